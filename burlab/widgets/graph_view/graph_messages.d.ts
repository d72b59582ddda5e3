// What the view of a graph, by `graph_view/encode_graph.py`, and its page send each other.

export type Box = [item: number, x: number, y: number, width: number, height: number, kind: string, text: string];
export type Link = [path: string, from: number, to: number, kind: string, x: number, y: number, width: number, height: number];
export interface Picture {
  width: number;
  height: number;
  boxes: Box[];
  frames: Box[];
  links: Link[];
}
export interface GraphMarks {
  lines: Record<string, string[]>;
  heat: Record<string, [share: number, text: string]>;
  faults: Record<string, string>;
  selected: number | null;
  now: number | null;
  phase: string;
  flows: number[];
  waits: number[];
  found: number[];
}
export interface Detail {
  title: string;
  rows: [name: string, text: string][];
  python: { place: string; text: string } | null;
  cpp: string[];
}
export interface Sweep {
  done: number;
  length: number;
  forward: number;
  phase: string;
  title: string;
  rules: [rule: string, number: string][];
  reads: [letter: string, number: string][];
}
export interface GraphWords {
  title: string;
  count: number;
  numbers: boolean;
  missing: string;
  heat: string;
  diff: boolean;
  backward: boolean;
  search: { text: string; at: number; count: number };
  focus: [item: number | null, times: number];
  groups: number;
  opened: number;
  detail: Detail | null;
  sweep: Sweep | null;
  note: string;
  subjects: string[];
  subject: string;
}
export interface GraphState {
  picture: Picture;
  marks: GraphMarks;
  words: GraphWords;
}
export type GraphIntent =
  | { type: "toggle"; item: number }
  | { type: "select"; item: number | null }
  | { type: "open" | "close" }
  | { type: "search"; text: string; by?: number }
  | { type: "step"; by: number }
  | { type: "seek"; done: number }
  | { type: "numbers"; on: boolean }
  | { type: "heat" | "subject"; name: string };
