"""The live panel of a run: buttons, knobs, curves and a way back, in a notebook."""
