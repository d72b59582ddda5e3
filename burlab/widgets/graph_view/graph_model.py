"""The state of a GraphView without Jupyter: open groups, selection, search, step and colours."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from burlab.errors import ArgumentError
from burlab.runtime.checks.numbers import shown

from .collapse import Groups, grouped
from .diff import Fate
from .fault_origin import faults_of, origin_of
from .graph_picture import LETTER, LINE, PAD, GraphPicture, GraphPictures, Size
from .heat import Heat, heat
from .network import Network
from .sweep_steps import SweepStep, SweepSteps
from .viewed_graph import ViewedGraph

MAX_BOXES = 3000  # that a page still draws; more stay closed
_SIGN_WIDTH = 12.0  # pixels of the sign that a group can be opened
HEATS = ("none", "gradient", "time", "bytes", "digits")


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Items that match a search. at: the number of the one that is shown, from 1; 0 without any."""

    text: str = ""
    items: tuple[int, ...] = ()
    at: int = 0


class GraphModel:
    """A view of one subject. Every intent of a page is a method here, and a plain call does the same.

    opened: the groups that are open; selected: an item, None for none; done: how many steps of the sweep are done, None
    as long as nobody steps; focus: the item that is to be seen, and how often one was asked for.
    """

    def __init__(self, subject: ViewedGraph, fates: tuple[Fate, ...] = ()) -> None:
        self.subject = subject
        self.fates = fates
        self.groups: Groups = grouped(subject.network)
        self.opened: frozenset[int] = frozenset(self._single())
        self.selected: int | None = None
        self.done: int | None = None
        self.found = SearchResult()
        self.focus: tuple[int | None, int] = (None, 0)
        self.numbers = False
        self.heat = "none"
        self._layouts: dict[bool, GraphPictures] = {}
        if fates:
            self._open_changes()

    @property
    def network(self) -> Network:
        """The network that is shown."""
        return self.subject.network

    @property
    def picture(self) -> GraphPicture:
        """The places of all boxes and arrows."""
        if self.numbers not in self._layouts:
            self._layouts[self.numbers] = GraphPictures(
                self.groups, [self._size(k) for k in range(len(self.groups.parent))]
            )
        return self._layouts[self.numbers].picture(self.opened)

    def toggle(self, item: int) -> None:
        """Open a group that is closed, close one that is open. An item that holds nothing is selected."""
        self._check(item)
        if not self.groups.is_group(item):
            self.select(item)
        elif item in self.opened:
            inside = {x for x in self.opened if item in self.groups.line(x)}
            self.opened -= inside
            self.focus_on(item)
        else:
            self._open({item})
            self.focus_on(item)

    def open_all(self) -> int:
        """Open groups, from the outside in, as far as a page can draw them. Gives how many stay closed."""
        depth = sorted((x for x in self.groups.titles if x != self.groups.root), key=lambda x: len(self.groups.line(x)))
        count, opened = len(self.groups.children[self.groups.root]), set[int]()
        for group in depth:
            more = len(self.groups.children[group])
            if self.groups.parent[group] in {self.groups.root, *opened} and count + more <= MAX_BOXES:
                opened.add(group)
                count += more
        self.opened = frozenset(opened)
        return len(depth) - len(opened)

    def close_all(self) -> None:
        """Close all groups, but for a single one that holds everything."""
        self.opened = frozenset(self._single())

    def select(self, item: int | None) -> None:
        """Select an item, whose details are shown."""
        if item is not None:
            self._check(item)
        self.selected = item

    def focus_on(self, item: int) -> None:
        """Move the page to an item."""
        self.focus = (item, self.focus[1] + 1)

    def reveal(self, item: int) -> None:
        """Open the groups around an item, and move to it."""
        self._open(x for x in self.groups.line(item)[1:-1])
        self.focus_on(item)

    def go_to_fault(self) -> str:
        """Show numbers, and select the vertex at which nan or inf begins; return that in words, "" if there is none."""
        self.show_numbers(True)
        faults = faults_of(self.network, self.sweep.values)
        origin = origin_of(self.network, faults)
        if origin is None:
            return ""
        self.reveal(origin)
        self.select(origin)
        vertex = self.network.vertices[origin]
        return f"{faults[origin]} begins here: {vertex.head}{f', {vertex.place}' if vertex.place else ''}"

    def search(self, text: str, by: int = 1) -> SearchResult:
        """Select what holds a text in its operation, name, line or scope: the next one for the same text as before."""
        words = text.strip().lower()
        if words != self.found.text:
            vertices = self.network.vertices
            items = [k for k, v in enumerate(vertices) if words and words in v.search_text.lower()]
            groups = [g for g, title in self.groups.titles.items() if words and words in title.lower()]
            items.sort(key=lambda k: (vertices[k].kind == "input", k))
            self.found = SearchResult(words, (*groups, *items), 0)
        if self.found.items:
            at = (self.found.at - 1 + by) % len(self.found.items) + 1
            self.found = SearchResult(words, self.found.items, at)
            self.reveal(self.found.items[at - 1])
            self.select(self.found.items[at - 1])
        return self.found

    @cached_property
    def sweep(self) -> SweepSteps:
        """See `ViewedGraph.sweep`. Raises ArgumentError where there are no numbers."""
        if self.subject.missing:
            raise ArgumentError(f"Nothing to step through: {self.subject.missing}.")
        return self.subject.sweep

    @property
    def step_now(self) -> SweepStep | None:
        """The step that was done last."""
        return self.sweep.steps[self.done - 1] if self.done else None

    def step(self, by: int = 1) -> None:
        """Go some steps on, or back. What lies in a closed group is one step."""
        self.show_numbers(True)
        before = self.done or 0
        for _ in range(abs(by)):
            self.done = self._next(self.done or 0, 1 if by > 0 else -1)
        if self.step_now and self.done != before:
            shown = self.groups.shown(self.step_now.vertex, self.opened)
            self.selected = shown
            self.focus_on(shown)

    def seek(self, done: int | None) -> None:
        """Go to this step; None ends stepping: all numbers are shown."""
        self.done = None if done is None else min(max(done, 0), len(self.sweep.steps))
        if self.step_now:
            self.focus_on(self.groups.shown(self.step_now.vertex, self.opened))

    def _next(self, done: int, by: int) -> int:
        """Past all steps in a row that a closed group stands for."""
        steps = self.sweep.steps

        def shown(k: int) -> tuple[int, str]:
            return self.groups.shown(steps[k].vertex, self.opened), steps[k].phase

        end = len(steps) if by > 0 else 0
        if done == end:
            return done
        at = done if by > 0 else done - 1
        box = shown(at)
        while done != end and shown(done if by > 0 else done - 1) == box:
            done += by
            if not self.groups.is_group(box[0]):
                break
        return done

    def show_numbers(self, on: bool) -> None:
        """Values and gradients in the boxes. Raises the errors of computing them, ArgumentError without arguments."""
        self.numbers = bool(on and self.sweep)

    def colour_by(self, name: str) -> None:
        """Colour boxes by a quantity.

        name: "gradient" (mean absolute value), "time" (of their steps), "bytes" (of values), "digits" (that are not
        right, see `bl.digits`), or "none".
        """
        if name not in HEATS:
            raise ArgumentError(f"boxes are coloured by {', '.join(HEATS)}, not by {shown(name)}.")
        if name in ("gradient", "time", "digits"):
            self.sweep  # noqa: B018 - raises the reason if there are no numbers
        self.heat = name

    @property
    def heats(self) -> dict[int, Heat]:
        """The quantity by which each item is coloured; of groups that of their members."""
        return heat(self.heat, self.subject, self.groups)

    @property
    def faults(self) -> dict[int, str]:
        """Items with a value or gradient that is nan or inf; groups stand for what they hold. {} without numbers."""
        if not self.numbers and self.heat == "none":
            return {}
        found: dict[int, str] = {}
        for k, value_fault in enumerate(faults_of(self.network, self.sweep.values)):
            gradient = self.sweep.gradient(k)
            fault = value_fault or (gradient.fault if gradient else "")
            if fault:
                found.update((item, fault) for item in self.groups.line(k)[1:] if item not in found)
        return found

    def lines(self, item: int) -> tuple[str, ...]:
        """Return the lines of text in a box."""
        if self.groups.is_group(item):
            count = len(self.groups.members[item])
            return self.groups.titles[item], f"{count:,} nodes"
        v = self.network.vertices[item]
        lines = (f"∇ {v.name}" if v.name else v.head, v.head if v.name else v.form)
        return tuple(filter(None, lines)) + (self._numbers(item) if self.numbers else ())

    def _numbers(self, item: int) -> tuple[str, ...]:
        done = self.done
        if done is not None and item not in self.sweep.computed(done):
            return ("",)
        gradient = self.sweep.gradient(item, done)
        return (self.sweep.values[item].text, *([f"∇ {gradient.text}"] if gradient else []))

    def _size(self, item: int) -> Size:
        lines = self.lines(item) if self.groups.is_group(item) else self._full(item)
        width = max(len(line) for line in lines) * LETTER + 2 * PAD + _SIGN_WIDTH * self.groups.is_group(item)
        return max(width, 40.0), len(lines) * LINE + 10

    def _full(self, item: int) -> tuple[str, ...]:
        """All lines that a box has at some time: steps of a sweep move no box."""
        v = self.network.vertices[item]
        own = tuple(filter(None, (f"∇ {v.name}" if v.name else v.head, v.head if v.name else v.form)))
        if not self.numbers:
            return own
        texts = [self.sweep.values[item].text, *(f"∇ {text.text}" for _, text in self.sweep.growth.get(item, ()))]
        return (*own, *texts[:1], *([max(texts[1:], key=len)] if len(texts) > 1 else []))

    def _single(self) -> Iterable[int]:
        """Groups that hold everything there is."""
        group = self.groups.root
        while len(self.groups.children[group]) == 1 and self.groups.is_group(self.groups.children[group][0]):
            group = self.groups.children[group][0]
            yield group

    def _open(self, groups: Iterable[int]) -> None:
        self.opened |= {x for group in groups for x in self.groups.line(group)[1:] if self.groups.is_group(x)}

    def _open_changes(self) -> None:
        """Open what holds changes, as far as it can be overlooked."""
        changed = [k for k, fate in enumerate(self.fates) if fate != "same"]
        for k in changed[:60]:
            self._open(self.groups.line(k)[1:-1])

    def _check(self, item: int) -> None:
        if not 0 <= item < len(self.groups.parent) or item == self.groups.root:
            raise ArgumentError(f"this graph has no item {item}.")
