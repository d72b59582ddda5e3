"""Places of boxes and arrows, for the groups that are open: each is laid out by itself, inside of those around it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from burlab.widgets.layered import Place, Size, layered, spread

from .collapse import IN, OUT, End, Groups

LETTER, LINE, PAD = 7.25, 16.0, 8.0  # pixels: width of a letter, height of a line, around the text of a box
TOP, SIDE = 26.0, 14.0  # pixels: above and around what an open group holds
_SLOT = 9.0  # pixels between two arrows that cross the rim of a group
_ENTRY, _EXIT = 1 << 40, (1 << 40) + 1  # the ports of a group, as its layout knows them


@dataclass(frozen=True, slots=True)
class Rect:
    """A box, or the frame around an open group. x, y: its upper left corner; all in pixels."""

    item: int
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Link:
    """An arrow. ends: the boxes or ports it leads from and to; route: through which points; count: how many it is."""

    ends: tuple[End, End]
    route: tuple[Place, ...]
    count: int = 1


@dataclass(frozen=True, slots=True)
class GraphPicture:
    """Boxes, frames of open groups from the outside in, and arrows. width, height: pixels of all of it."""

    boxes: tuple[Rect, ...]
    frames: tuple[Rect, ...]
    links: tuple[Link, ...]
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class _Block:
    """The picture of what a group holds, and the heights at which arrows cross its rim, by what is at the other end."""

    picture: GraphPicture
    entries: Mapping[int, float]
    exits: Mapping[int, float]


class GraphPictures:
    """Pictures of a tree of groups; the layout of a group is kept as long as what is open in it stays the same.

    sizes: width and height of each box, in pixels: of vertices, and of groups where they are closed.
    """

    def __init__(self, groups: Groups, sizes: Sequence[Size] | Mapping[int, Size]) -> None:
        self.groups = groups
        self._sizes = sizes
        self._blocks: dict[tuple[int, frozenset[int]], _Block] = {}

    def picture(self, opened: frozenset[int]) -> GraphPicture:
        """The picture with these groups open."""
        return self._block(self.groups.root, opened).picture

    def _block(self, group: int, opened: frozenset[int]) -> _Block:
        inside = frozenset(x for x in opened if group in self.groups.line(x)[:-1])
        key = (group, inside)
        if key not in self._blocks:
            self._blocks[key] = self._laid_out(group, inside)
        return self._blocks[key]

    def _laid_out(self, group: int, opened: frozenset[int]) -> _Block:
        children, arrows = self.groups.children[group], self.groups.arrows[group]
        blocks = {x: self._block(x, opened) for x in children if x in opened}
        sizes: dict[int, Size] = {
            x: (blocks[x].picture.width, blocks[x].picture.height) if x in blocks else self._sizes[x] for x in children
        }
        ports = {side: sorted({e[1] for ends in arrows for e in ends if isinstance(e, tuple) and e[0] == side})
                 for side in (IN, OUT)}  # fmt: skip
        routes = list(dict.fromkeys((_at(x), _at(y)) for x, y in arrows))
        layout = layered(sizes | _rims(ports), routes + self._anchors(children, arrows, ports, near_users=True))
        if ports[IN] and any(layout.centres[x][0] < layout.centres[_ENTRY][0] for x in children):
            layout = layered(sizes | _rims(ports), routes + self._anchors(children, arrows, ports, near_users=False))
        is_root = group == self.groups.root
        left, top = (0.0, 0.0) if is_root else (0.0 if ports[IN] else SIDE, TOP)
        right, bottom = (0.0, 0.0) if is_root else (0.0 if ports[OUT] else SIDE, SIDE)
        width, height = layout.width + left + right, layout.height + top + bottom
        corner = {x: (layout.centres[x][0] - sizes[x][0] / 2 + left, layout.centres[x][1] - sizes[x][1] / 2 + top)
                  for x in children}  # fmt: skip
        middle = {x: corner[x][1] + sizes[x][1] / 2 for x in children}
        bends = {ends: [(x + left, y + top) for x, y in route] for ends, route in layout.bends.items()}
        entries = _slots(ports[IN], arrows, middle, bends, IN)
        exits = _slots(ports[OUT], arrows, middle, bends, OUT)

        def start(a: End, b: End) -> Place:
            if not isinstance(a, int):
                return 0.0, entries[a[1]]
            y = blocks[a].exits[_key(b)] + corner[a][1] if a in blocks else middle[a]
            return corner[a][0] + sizes[a][0], y

        def stop(a: End, b: End) -> Place:
            if not isinstance(b, int):
                return width, exits[b[1]]
            return corner[b][0], blocks[b].entries[_key(a)] + corner[b][1] if b in blocks else middle[b]

        links = [
            Link((a, b), (start(a, b), *bends.get((_at(a), _at(b)), ()), stop(a, b)), count)
            for (a, b), count in arrows.items()
        ]
        own = GraphPicture(
            tuple(Rect(x, *corner[x], *sizes[x]) for x in children if x not in blocks), (), tuple(links), width, height
        )
        parts = [own, *(_shifted(block.picture, *corner[x], x) for x, block in blocks.items())]
        joined = GraphPicture(
            tuple(box for part in parts for box in part.boxes),
            tuple(frame for part in parts for frame in part.frames),
            tuple(link for part in parts for link in part.links),
            width,
            height,
        )
        return _Block(joined, entries, exits)

    def _anchors(
        self,
        children: Sequence[int],
        arrows: Mapping[tuple[End, End], int],
        ports: Mapping[str, Sequence[int]],
        near_users: bool,
    ) -> list[tuple[int, int]]:
        """Invisible arrows: they keep the rims left and right of all boxes.

        near_users: whether inputs are left out, which then lie beside what uses them, if that is not left of the rim.
        """
        vertices, whole = self.groups.network.vertices, self.groups.root
        reached = {b for _, b in arrows} | {
            x for x in children if near_users and x < whole and not vertices[x].operands
        }
        left = {a for a, _ in arrows}
        first = [(_ENTRY, x) for x in children if x not in reached] if ports[IN] else []
        return first + ([(x, _EXIT) for x in children if x not in left] if ports[OUT] else [])


def _at(end: End) -> int:
    return end if isinstance(end, int) else _ENTRY if end[0] == IN else _EXIT


def _key(end: End) -> int:
    """Return the key of an arrow where it crosses the rim of a group: the box at its other end."""
    return end if isinstance(end, int) else end[1]


def _rims(ports: Mapping[str, Sequence[int]]) -> dict[int, Size]:
    """Return the sizes of the rims of a group for the layout."""
    places = {_ENTRY: ports[IN], _EXIT: ports[OUT]}
    return {place: (0.0, _SLOT * len(keys)) for place, keys in places.items() if keys}


def _slots(
    keys: Sequence[int],
    arrows: Mapping[tuple[End, End], int],
    middle: Mapping[int, float],
    bends: Mapping[tuple[int, int], Sequence[Place]],
    side: str,
) -> dict[int, float]:
    """The heights of ports: each near its target, and apart from the others."""
    wishes: dict[int, list[float]] = {key: [] for key in keys}
    for a, b in arrows:
        port, other = (a, b) if side == IN else (b, a)
        if not isinstance(port, int) and port[0] == side:
            route = bends.get((_at(a), _at(b)), ())
            y = (route[0] if side == IN else route[-1])[1] if route else middle[_at(other)]
            wishes[port[1]].append(y)
    means = {key: sum(ys) / len(ys) for key, ys in wishes.items()}
    order = sorted(keys, key=lambda key: means[key])
    return dict(zip(order, spread([means[key] for key in order], [_SLOT for _ in order[1:]]), strict=True))


def _shifted(picture: GraphPicture, x: float, y: float, group: int) -> GraphPicture:
    """A picture at its place in another, with a frame around it."""

    def at(rect: Rect) -> Rect:
        return replace(rect, x=rect.x + x, y=rect.y + y)

    links = (replace(link, route=tuple((u + x, v + y) for u, v in link.route)) for link in picture.links)
    frame = Rect(group, x, y, picture.width, picture.height)
    return GraphPicture(
        tuple(map(at, picture.boxes)), (frame, *map(at, picture.frames)), tuple(links), picture.width, picture.height
    )
