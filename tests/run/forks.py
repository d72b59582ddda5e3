"""A part of test programs: a fork in whose child a run cannot step and raises."""

STEP_IN_A_CHILD = """
child = os.fork()
if child == 0:
    try:
        run.step(1)
    except StatusError as error:
        os._exit(0 if "forked" in str(error) else 1)
    os._exit(2)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""
