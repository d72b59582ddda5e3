// What tests of a chart call, in the window of their page.
import { drawChart } from "../../burlab/widgets/chart/chart.js";
import { hintsAt } from "../../burlab/widgets/chart/readout.js";

Object.assign(window, { drawChart, hintsAt, said: [] });
