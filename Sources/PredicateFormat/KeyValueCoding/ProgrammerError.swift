/// Stops the program for a programmer's error, for which Foundation would raise an exception.
func programmerError(_ message: String) -> Never {
    fatalError(message)
}
