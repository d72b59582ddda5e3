// What crosses the border between Python and a page: the traits that Python sets, and the intents that a page sends.

import type { Detail, GraphMarks, Picture } from "./graph_view/graph_messages";

/** Float64 numbers: a buffer, or base64 in an exported page, or what was unpacked already. */
export type Packed = DataView | ArrayBuffer | Float64Array | string;
/** A value and the text that a menu shows for it. */
export type Choice = [value: string, text: string];
type Tone = "ready" | "running" | "paused" | "past" | "stopped" | "failed";

/** What anywidget passes to `render`. */
export interface Model<State, Intent> {
  get<K extends keyof State>(name: K): State[K];
  send(intent: Intent): void;
  on(name: string, callback: (...message: any[]) => void): void;
  off(name: string, callback: (...message: any[]) => void): void;
}
export interface View<State, Intent> {
  model: Model<State, Intent>;
  el: HTMLElement;
}

// ---- charts, by `chart/encode_chart.py`

export interface Axis {
  label: string;
  unit: string;
  log: boolean;
  low: number | null;
  high: number | null;
  floor: number | null;
}
interface Named {
  label: string;
  colour: number;
}
export interface Curve<N = Float64Array> extends Named {
  x: N;
  y: N;
  faint: boolean;
  dashed: number;
  right: boolean;
}
export interface Band<N = Float64Array> extends Named {
  x: N;
  low: N;
  high: N;
  solid: boolean;
}
export interface Dots<N = Float64Array> extends Named {
  x: N;
  y: N;
  shape: "dot" | "ring" | "cross" | "star" | "triangle" | "word" | "none";
  hints: string[];
}
export interface Mark {
  at: number;
  label: string;
  axis: "x" | "y";
  kind: "rule" | "cursor" | "break";
}
export interface Heights<N = Float64Array> {
  rows: number;
  columns: number;
  values: N;
  shade: N;
}
export interface PlotData<N = Packed> {
  kind: "plot";
  name: string;
  title: string;
  note: string;
  x: Axis;
  y: Axis;
  right: Axis | null;
  curves: Curve<N>[];
  bands: Band<N>[];
  dots: Dots<N>[];
  marks: Mark[];
  tall: number;
  section: string;
}
/** Its axes have both ends. */
export interface MapData<N = Packed> {
  kind: "map";
  name: string;
  title: string;
  note: string;
  x: Axis;
  y: Axis;
  curves: Curve<N>[];
  dots: Dots<N>[];
  heights: Heights<N> | null;
  version: number;
  middle: number | null;
  equal: boolean;
}
export interface ChartData<N = Packed> {
  parts: (PlotData<N> | MapData<N>)[];
  title: string;
  about: string;
  palette: string[];
}
/** The heights of maps by name, apart from the chart. */
export type HeightsByName = Record<string, Heights<Packed> & { version: number }>;
export interface ChartState {
  data: ChartData;
  heights: HeightsByName;
}
export type ChartViewState = ChartState & { shape: string };
export interface Pose {
  turn: number;
  lift: number;
  zoom: number;
}
export type ChartIntent =
  | ({ type: "pose" } & Pose)
  | { type: "zoom"; part: string; axis: string; low: number | null; high: number | null }
  | { type: "seek"; x: number }
  | { type: "pick"; part: string; label: string; x: number; y: number };

// ---- live views: a panel, a race, branches, a spectrum, the bar over a landscape

export interface Status {
  tone: Tone;
  status: string;
  title: string;
}
/** What each live view sends besides its own intents. */
export type Presence =
  | { type: "watch"; visible: boolean; page?: string }
  | { type: "drawn"; tick: number }
  | { type: "leave" };
/** handled: by view, the number of its last intent that was carried out. texts: by slider, those of its field at each place. */
export type LiveState<State> = ChartState & {
  state: State & Status & { tick: number; handled: Record<string, number> };
  texts: Record<string, string[]>;
};

/** What plays, and what it can do: what is not `seekable` has no way back. */
export interface Transport extends Status {
  step: number;
  length: number;
  playing: boolean;
  seekable: boolean;
  ended: boolean;
  speed: number;
}
/** Buttons of the bar whose intent has no other field. */
export type TransportButton = "play" | "pause" | "back" | "reset";
export type TransportIntent =
  | { type: TransportButton }
  | { type: "step"; count: string | number }
  | { type: "rewind"; count: number }
  | { type: "seek"; step: number }
  | { type: "speed"; value: number };

/** Begin at another point of the plane. */
export type Start = { type: "start"; x: number; y: number };
export interface Knob {
  name: string;
  place: number;
  text: string;
  low: string;
  high: string;
  decades: number;
  schedule: "" | "follows" | "held";
}
export interface Hit {
  step: number;
  text: string;
  value: string;
}
export interface Breakpoint {
  number: number;
  text: string;
  on: boolean;
}
export interface Memory {
  total: string;
  kinds: [name: string, text: string, share: number, colour: number][];
}
export interface Panel extends Transport {
  movable: boolean;
  smoothing: number;
  breakpoints: Breakpoint[] | null;
  conditions: string[];
  hits: Hit[];
  stops: number;
  splits: boolean;
  cliff: { cause: string; back: string | null; graph: boolean } | null;
  against: string;
  axes: Choice[];
  axis: "auto" | "log" | "linear";
  readouts: [title: string, text: string][];
  knobs: Knob[];
  memory: Memory;
  formats: Formats | null;
}
export type FormatField = "params" | "compute" | "gradients" | "state";
/** Formats of numbers. choices: of each menu, "" is x0's dtype. own: the text of a format that menus do not offer, else "". */
export interface Formats {
  choices: Choice[];
  values: Record<FormatField, string>;
  own: Record<FormatField, string>;
  stochastic: boolean;
  master: boolean;
  scaled: boolean;
  words: string;
  refused: string;
  exact_loss: string;
  compiling: boolean;
}
export type PanelIntent =
  | TransportIntent
  | Start
  | { type: "split" | "rescue" | "cause" }
  | { type: "seek"; step: string | number }
  | { type: "seek"; place: number }
  | { type: "against" | "axis"; value: string }
  | { type: "smoothing"; value: number }
  | { type: "slide"; name: string; place: number; drag: number }
  | { type: "enter"; name: string; text: string }
  | { type: "hold" | "follow"; name: string }
  | { type: "break"; kind: string; text: string }
  | { type: "break_switch"; number: number; on: boolean }
  | { type: "break_remove"; number: number }
  | ({ type: "formats"; stochastic: boolean; master: boolean; scaled: boolean } & Record<FormatField, string>)
  | Extract<ChartIntent, { type: "zoom" }>;

export interface Racer {
  name: string;
  rank: number;
  colour: number;
  dash: number;
  value: string;
  behind: string;
  step: string;
  message: string;
}
export interface Race extends Transport {
  movable: boolean;
  against: string;
  axes: Choice[];
  of: string;
  columns: Choice[];
  unit: string;
  rows: Racer[];
  optimizers: Choice[];
}
export type RaceIntent =
  | TransportIntent
  | Start
  | { type: "against" | "of"; value: string }
  | { type: "add"; name: string; lr: string }
  | { type: "drop"; name: string };

export interface Branch {
  name: string;
  depth: number;
  colour: number;
  chosen: boolean;
  message: string;
  origin: string;
  value: string;
  length: string;
  gradients: string;
  seconds: string;
  own: [x: number, y: number][];
  past: [x: number, y: number][];
}
export interface Branches {
  rows: Branch[];
  current: string;
  cursor: number;
  length: number;
  running: boolean;
  hypers: Choice[];
  against: string;
  axes: Choice[];
}
export type BranchesIntent =
  | { type: "fork"; name: string; text: string }
  | { type: "go"; count: string }
  | { type: "pause" }
  | { type: "cursor"; step: string | number }
  | { type: "against"; value: string }
  | { type: "choose"; name: string; value: boolean }
  | { type: "current"; name: string };

export interface Spectrum {
  parts: Choice[];
  part: string;
}
export type SpectrumIntent = { type: "part"; value: string };

export interface LandscapeBar {
  planes: Choice[];
  plane: string;
  shape: string;
  status: string;
}
export type LandscapeIntent = { type: "plane"; plane: string } | { type: "show"; shape: string } | { type: "again" };

// ---- playgrounds

/** widths: neurons of each layer. pictures: of each neuron, signed bytes in base64. weights: of each neuron, its bias last. */
export interface Network {
  widths: number[];
  pictures: string[][];
  weights: number[][][];
}
export type PlaygroundMenu = "data" | "activation" | "optimizer" | "dtype" | "numbers" | "rounding";
/** room: whether there is room for a layer, and how many neurons one may have. */
export interface Playground extends Transport {
  knobs: Knob[];
  setting: Record<PlaygroundMenu, string> & { own: boolean };
  network: Network;
  room: [layer: boolean, neurons: number];
}
/** What menus and buttons offer. data: by name, points of a small picture. */
export interface PlaygroundOffers {
  data: Record<string, [x: number, y: number, kind: number][]>;
  activation: string[];
  optimizer: string[];
  dtype: string[];
  numbers: Choice[];
  rounding: string[];
}
export type PlaygroundState = LiveState<Playground> & { offers: PlaygroundOffers };
export type PlaygroundIntent =
  | TransportIntent
  | { type: "seek"; step: number }
  | { type: "slide"; name: string; place: number; drag: number }
  | { type: "enter"; name: string; text: string }
  | { type: "hold" | "follow"; name: string }
  | { type: "begin" | "again" | "fork" | "code" | "page" }
  | { type: "choose"; name: PlaygroundMenu; value: string }
  | { type: "layers"; by: number }
  | { type: "neurons"; layer: number; by: number }
  | { type: "probe"; layer: number | null; neuron: number | null };
/** Answers the intents "code" and "page". */
export type PlaygroundText = { type: "code" | "page"; text: string };

// ---- profiles

export interface ProfileRow {
  index: number;
  start: number;
  nanoseconds: number;
  nbytes: number;
  name: string;
  phase: string;
  shape: string;
  lines: string;
  scope: string;
}
export interface ProfileState {
  data: { rows: ProfileRow[]; total: number; head: string };
  row: number;
}
export type ProfileIntent = { type: "hover"; row: number };

// ---- graphs, and the builder of graphs

export * from "./graph_view/graph_messages";
export * from "./builder/builder_messages";

// ---- exported pages, which have no kernel

export interface RecordData {
  chart: ChartData;
  step: number;
  steps: Packed;
  columns: { title: string; unit: string; values: Packed }[];
  places: { x: Packed; y: Packed } | null;
}
export interface TabsData {
  names: string[];
  charts: ChartData[];
}
/** See `export/page_sections.py`. */
export interface GraphData {
  title: string;
  count: number;
  groups: number;
  diff: boolean;
  backward: boolean;
  states: Record<string, { picture: Picture; marks: GraphMarks; opened: number }>;
  parents: Record<string, string>;
  words: [item: number, text: string, group: string][];
  details: Record<string, Detail>;
}
export type Section =
  | { kind: "record"; data: RecordData }
  | { kind: "tabs"; data: TabsData }
  | { kind: "graph"; data: GraphData };
