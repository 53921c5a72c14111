/// Arguments that make no sense.
package struct UsageError: Error, Equatable {
    package let message: String
    package init(_ message: String) { self.message = message }
}
