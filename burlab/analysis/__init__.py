"""Analysis of a loss: its landscape, its curvature, its samples. All are functions, whose results have charts."""

from .boundary import Boundary as Boundary, boundary as boundary
from .clusters import Clusters as Clusters, kmeans as kmeans
from .digits_report import DigitsReport as DigitsReport, DigitsRow as DigitsRow
from .gear_check import check_gears as check_gears
from .gear_report import GearReport as GearReport, GearRow as GearRow
from .herding import herding as herding
from .landscape import Landscape as Landscape, landscape as landscape, refinements as refinements
from .right_digits import digits as digits
from .samples import Samples as Samples, samples as samples
from .scores import data_scores as data_scores, el2n as el2n, grad_sign as grad_sign, grand as grand
from .sliced_stream import SlicedPart as SlicedPart, SlicedStream as SlicedStream, slice_rms as slice_rms
from .spectrum import Spectrum as Spectrum, spectra as spectra, spectrum as spectrum, spectrum_chart as spectrum_chart
from .unit_relevance import prune as prune, relevance as relevance
