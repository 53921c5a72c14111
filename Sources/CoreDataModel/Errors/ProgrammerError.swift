/// Stops the program because of a programmer's mistake, for which Core Data raises an Objective-C exception; Swift on
/// Linux has none. Never call it for bad input, for which an error is thrown.
///
/// - Parameter message: names the entity, the key and what would have been correct.
package func programmerError(_ message: String) -> Never {
    fatalError("Core Data: " + message)
}
