extension Error {
    /// What is said of an error, in words that name the place in the data.
    var decodingReason: String {
        guard let error = self as? DecodingError else { return localizedDescription }
        switch error {
        case .keyNotFound(let key, let context) where !context.path.isEmpty:
            return "“\(context.path)” has no value for “\(key.stringValue)”."
        case .keyNotFound(let key, _): return "There is no value for “\(key.stringValue)”."
        case .typeMismatch(let type, let context), .valueNotFound(let type, let context):
            return context.path.isEmpty ? "It is no \(type)." : "“\(context.path)” is no \(type)."
        case .dataCorrupted(let context):
            return "\(context.path.isEmpty ? "" : "“\(context.path)”: ")\(context.debugDescription)"
        @unknown default: return "\(error)"
        }
    }
}

extension DecodingError.Context {
    /// The keys that lead to the place, with positions in brackets: `tags[0].name`.
    fileprivate var path: String {
        codingPath.reduce(into: "") { path, key in
            if let position = key.intValue {
                path += "[\(position)]"
            } else {
                path += path.isEmpty ? key.stringValue : ".\(key.stringValue)"
            }
        }
    }
}
