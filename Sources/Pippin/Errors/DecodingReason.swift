extension Error {
    /// The error's description for users if it has one, otherwise the error with its values.
    var message: String {
        if let description = (self as? any LocalizedError)?.errorDescription { return description }
        let isFoundations = self is any LocalizedError || self is any CustomNSError || type(of: self) is NSError.Type
        return isFoundations ? localizedDescription : "\(self)"
    }

    /// The reason of a decoding error, with the coding path where it occurred.
    var decodingReason: String {
        guard let error = self as? DecodingError else { return message }
        switch error {
        case .keyNotFound(let key, let context) where !context.path.isEmpty:
            return "“\(context.path)” has no value for “\(key.stringValue)”."
        case .keyNotFound(let key, _): return "There is no value for “\(key.stringValue)”."
        case .typeMismatch(let type, let context), .valueNotFound(let type, let context):
            return context.path.isEmpty ? "It is not of type \(type)." : "“\(context.path)” is not of type \(type)."
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

extension DecodingError {
    /// The error for a value that is nested under a key of another one.
    func within(_ key: String) -> DecodingError {
        func inside(_ context: Context) -> Context {
            Context(
                codingPath: [NamedKey(stringValue: key)] + context.codingPath,
                debugDescription: context.debugDescription,
                underlyingError: context.underlyingError)
        }
        switch self {
        case .keyNotFound(let missing, let context): return .keyNotFound(missing, inside(context))
        case .typeMismatch(let type, let context): return .typeMismatch(type, inside(context))
        case .valueNotFound(let type, let context): return .valueNotFound(type, inside(context))
        case .dataCorrupted(let context): return .dataCorrupted(inside(context))
        @unknown default: return self
        }
    }

    /// The first key of the path to the place; nil if the error is about the whole value.
    var firstKey: String? {
        switch self {
        case .keyNotFound(_, let context), .typeMismatch(_, let context), .valueNotFound(_, let context),
            .dataCorrupted(let context):
            return context.codingPath.first?.stringValue
        @unknown default: return nil
        }
    }
}

private struct NamedKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }

    init?(intValue: Int) { nil }
}

extension Error {
    /// The message of an error of encoding.
    var encodingReason: String {
        guard case .invalidValue(_, let context)? = self as? EncodingError else {
            return "encode(to:) says: \(message)"
        }
        return context.debugDescription
    }
}
