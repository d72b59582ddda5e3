import type { Block, BuilderIntent } from "../messages";

/** What the parts of a builder share: what there is, and what can be done. */
export interface Desk {
  selected: number[];
  /** Names of the selected wires. */
  wires: string[];
  /** Blocks that the next ones are added to, by keys. */
  held: number[] | null;
  drawn: boolean;
  block: (key: number | null | undefined) => Block | undefined;
  blocks: () => Block[];
  send: (message: BuilderIntent) => void;
  select: (keys: number[], wires?: string[]) => void;
  open: (key: number) => void;
}
