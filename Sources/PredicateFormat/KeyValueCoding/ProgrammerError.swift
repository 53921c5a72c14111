/// Stops the program where Foundation would raise an exception for a programmer's error.
func programmerError(_ message: String) -> Never {
    fatalError(message)
}
