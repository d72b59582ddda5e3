// What a chart holds in the page.

import type { ChartIntent, Heights, MapData, PlotData } from "../messages";

export type Colour = number[];
export type Span = [low: number, high: number];
export type Pen = CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D;
export interface Point {
  u: number;
  v: number;
}
/** The part of an axis that sets where its numbers lie and how they are written. */
export interface Scaling {
  log?: boolean;
  unit?: string;
  floor?: number | null;
}
/** Pixels of values, and values of pixels. */
export interface Scale {
  at(value: number): number;
  back(pixel: number): number;
  low: number;
  high: number;
  from: number;
  to: number;
}
export interface Tick {
  value: number;
  text: string;
}
export interface Theme {
  dark: boolean;
  ink: Colour;
  ground: Colour;
  soft: Colour;
  grid: string;
  edge: string;
  font: string;
  curve(k: number): Colour;
  cursor: Colour;
  shade: Colour;
  sides: Colour[];
}
export interface Frame {
  left: number;
  top: number;
  right: number;
  bottom: number;
  sx: Scale;
  sy: Scale;
  sr: Scale | null;
}
export interface Cache {
  key?: string;
  picture?: OffscreenCanvas;
}
interface Drawn {
  marks: PlotData["marks"];
  bands: PlotData<Float64Array>["bands"];
  heights: Heights | null;
  cache: Cache;
  frame: Frame;
  foot: boolean;
}
export type PlotPart = Omit<PlotData<Float64Array>, keyof Drawn> & Drawn;
export type MapPart = Omit<MapData<Float64Array>, keyof Drawn> & Drawn;
export type Part = PlotPart | MapPart;
export interface Place {
  box: HTMLElement;
  title: HTMLElement;
  note: HTMLElement;
  legend: HTMLElement;
  rove: () => void;
  frame: HTMLElement;
  canvas: HTMLCanvasElement;
  end(): void;
  cache: Cache;
}
export interface Drag {
  part: string;
  from: Point;
  to: Point;
  seeks: boolean;
  carries: boolean;
}
export interface Hover extends Point {
  part: string;
  across: string;
  x: number;
}
export interface Chart {
  el: HTMLElement;
  below: Map<string, HTMLElement>;
  folds: boolean;
  about: string;
  palette: string[];
  parts: Part[];
  places: Map<string, Place>;
  zooms: Map<string, Span>;
  hidden: Set<string>;
  hover: Hover | null;
  drag: Drag | null;
  gutter: number;
  ownWheel(event: WheelEvent): boolean;
  frames: number;
  theme: Theme | null;
  sizes: ResizeObserver;
  onIntent(intent: ChartIntent): void;
  redraw(): void;
}
