"""Results and runs of Eddy's lab.

  import eddylab
  results = eddylab.load("results/leaf-spine/ci")
  results.runs()[["variant", "seed", "slowdown_p99"]]
  results.flows(variant="scheme=drill", measured=True)

  results = eddylab.run("leaf-spine", out="results", size="ci", seeds=range(1, 6), set={"host.window": "64KiB"})

Tables are pandas DataFrames where pandas is installed, else lists of dictionaries with the same columns.
"""

from eddylab.results import Results, ResultsError, load
from eddylab.running import RunFailed, run

__all__ = ["Results", "ResultsError", "RunFailed", "load", "run"]
