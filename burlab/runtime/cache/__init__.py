"""The cache of compiled code: its files (`store`), and the process that fills them (`fill`, `kernels`, `programs`)."""
