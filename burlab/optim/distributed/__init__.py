"""Rules of many clients and a server, for `bl.problems.federated`."""
