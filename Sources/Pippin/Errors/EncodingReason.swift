extension Error {
    /// The message of an error of encoding.
    var encodingReason: String {
        guard case .invalidValue(_, let context)? = self as? EncodingError else {
            return "encode(to:) says: \(message)"
        }
        return context.debugDescription
    }
}
