import Foundation

/// What `SEARCH(title, text, "whale*")` compares: texts with what a person typed into a search field. Words are those
/// of `SearchTokenizer`, without endings removed.
package enum SearchedTexts {
    private static let lock = NSLock()
    /// The queries that were compared last, made ready.
    nonisolated(unsafe) private static var scans: [String: SearchScan] = [:]

    /// Whether one of the query's alternatives has all of its words in texts.
    package static func have(_ query: String, _ texts: [String]) -> Bool {
        lock.lock()
        let scan = scans[query] ?? make(query)
        lock.unlock()
        return scan.matches(texts)
    }

    private static func make(_ query: String) -> SearchScan {
        if scans.count >= 32 { scans.removeAll() }
        let tokenizer = SearchTokenizer()
        let scan = SearchScan(SearchQuery(query, tokenizer: tokenizer), tokenizer: tokenizer)
        scans[query] = scan
        return scan
    }

    /// The same for values: a text, or a collection of texts and of collections.
    static func have(_ query: Value, _ texts: Value) -> Bool {
        guard case .string(let query) = query else { return false }
        if case .collection(let values) = texts { return have(query, values.map(text)) }
        return have(query, [text(texts)])
    }

    private static func text(_ value: Value) -> String {
        switch value {
        case .string(let text): text
        case .url(let url): url.absoluteString
        case .collection(let values): SearchTokenizer.joined(values.map(text))
        default: ""
        }
    }
}
