"""The playground: a small network learns two classes in a plane while its data, shape and optimizer are changed."""
