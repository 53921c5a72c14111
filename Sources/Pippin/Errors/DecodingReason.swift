extension Error {
    /// What is said of an error, in words that name the place in the data.
    var decodingReason: String {
        guard let error = self as? DecodingError else { return localizedDescription }
        switch error {
        case .keyNotFound(let key, _): return "There is no value for “\(key.stringValue)”."
        case .typeMismatch(let type, let context), .valueNotFound(let type, let context):
            return "“\(context.path)” is no \(type)."
        case .dataCorrupted(let context):
            return "\(context.path.isEmpty ? "" : "“\(context.path)”: ")\(context.debugDescription)"
        @unknown default: return "\(error)"
        }
    }
}

extension DecodingError.Context {
    fileprivate var path: String { codingPath.map(\.stringValue).joined(separator: ".") }
}
