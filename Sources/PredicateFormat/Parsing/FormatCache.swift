import Synchronization

/// Caches parsed format strings, so that a predicate that is made repeatedly is parsed once.
///
/// A format with `%K` has an entry for each combination of key paths.
final class FormatCache: Sendable {
    static let shared = FormatCache()

    private enum Entry {
        case template(FormatTemplate)
        /// The format has `%K` at these arguments.
        case keyed([Int])
    }

    private struct KeyedFormat: Hashable {
        let format: LiteralString
        let keyPaths: [Value]
    }

    private struct State {
        var entries: [LiteralString: Entry] = [:]
        var keyed: [KeyedFormat: FormatTemplate] = [:]
    }

    private let state = Mutex(State())
    private let limit: Int
    /// Longer formats are rarely repeated, and would take memory.
    private let longestFormat = 4096

    init(limit: Int = 500) {
        self.limit = limit
    }

    /// The template for a format and the key paths among its arguments.
    func template(_ format: String, arguments: [Value]) throws(PredicateFormatError) -> FormatTemplate {
        if let template = find(format, arguments) { return template }
        let template = try FormatTemplate(parsing: format, arguments: arguments)
        if format.utf8.count <= longestFormat { insert(template, arguments) }
        return template
    }

    private func find(_ format: String, _ arguments: [Value]) -> FormatTemplate? {
        state.withLock { state in
            switch state.entries[LiteralString(format)] {
            case nil: return nil
            case .template(let template): return template
            case .keyed(let indices):
                let keyPaths = indices.compactMap { arguments.indices.contains($0) ? arguments[$0] : nil }
                return state.keyed[KeyedFormat(format: LiteralString(format), keyPaths: keyPaths)]
            }
        }
    }

    private func insert(_ template: FormatTemplate, _ arguments: [Value]) {
        let indices = template.keyPathIndices
        let format = LiteralString(template.format)
        state.withLock { state in
            // Programs have few formats. One that keeps making up new ones empties the cache now and then.
            if state.entries.count >= limit { state.entries.removeAll() }
            if state.keyed.count >= limit { state.keyed.removeAll() }
            if indices.isEmpty {
                state.entries[format] = .template(template)
            } else {
                state.entries[format] = .keyed(indices)
                state.keyed[KeyedFormat(format: format, keyPaths: indices.map { arguments[$0] })] = template
            }
        }
    }
}
