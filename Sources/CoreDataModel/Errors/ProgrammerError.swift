/// Stops the program because of a mistake in it: where Core Data raises an Objective-C exception, Swift on Linux
/// has none to raise. Never call it for bad input, which gets a thrown error.
///
/// - Parameter message: names the entity, the key and what would have been right.
package func programmerError(_ message: String) -> Never {
    fatalError("Core Data: " + message)
}
