// What the builder of graphs and its page send each other.

export interface BlockKind {
  name: string;
  group: string;
  symbol: string;
  doc: string;
  ports: number;
}
export interface Block {
  key: number;
  x: number;
  y: number;
  width: number;
  height: number;
  /** Where wires into it go around other blocks, by argument. */
  bends: Record<string, [x: number, y: number][]>;
  lines: [kind: string, text: string][];
  output: boolean;
  fault: string;
  odd: string;
  open: string;
  kind: string;
  label: string;
  name: string;
  doc: string;
  leaf: boolean;
  many: boolean;
  ports: string[];
  operands: (number | null)[];
  options: [name: string, text: string, words: string[]][];
  shape: string;
  value: string;
  gradient: string;
  weights: string;
}
export interface BuilderState {
  kinds: BlockKind[];
  examples: Record<string, string>;
  state: {
    blocks: Block[];
    undo: boolean;
    redo: boolean;
    note: string;
    file: string;
    refused: [key: number, reason: string, count: number] | null;
    added: [keys: number[], count: number];
    minimized: boolean;
  };
}
export type BuilderIntent =
  | { type: "undo" | "redo" | "arrange" | "minimize" | "keep" }
  /** to: the argument that takes it. wire: it is put between this argument and what that takes now. */
  | { type: "add"; kind: string; operands: number[]; place?: [x: number, y: number]; options?: { value: string }; to?: [key: number, port: number]; wire?: [key: number, port: number] }
  | { type: "insert"; key: number; wire: [key: number, port: number]; by: [x: number, y: number] }
  | { type: "formula"; text: string }
  | { type: "place"; places: [key: number, x: number, y: number][] }
  | { type: "duplicate"; keys: number[] }
  | { type: "paste"; text: string; place?: [x: number, y: number] }
  | { type: "delete"; keys: number[]; wires: [key: number, port: number][] }
  | { type: "move"; keys: number[]; by: [x: number, y: number] }
  | { type: "export"; format: string }
  /** was: the argument whose wire it was, which is open now. */
  | { type: "connect"; source: number; key: number; port: number | null; was?: [key: number, port: number] }
  | { type: "disconnect"; key: number; port: number }
  | { type: "choose"; key: number }
  | { type: "rename" | "reshape"; key: number; text: string }
  | { type: "edit"; key: number; name: string; text: string; tag?: string };
/** Answers an intent "export". */
export type BuilderExport = { type: "export"; name: "NumPy" | "LaTeX" | "C++" | "Python" | "JSON" | "DOT" | "SVG"; text: string };
