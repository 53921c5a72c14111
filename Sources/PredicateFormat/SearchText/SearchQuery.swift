/// What a person typed into a search field, as a condition on texts. Every text is a valid query.
///
/// Words must all occur, anywhere in the texts. `"white whale"` are words that follow each other in one text, `whal*`
/// is the beginning of a word, `-moby` must not occur, `OR` in capitals stands between alternatives and binds weaker
/// than the words beside it. Everything else is text: a word that the tokenizer divides (`don't`, 東京都) is found
/// where its parts follow each other. An alternative of excluded words alone finds nothing, and so does a query
/// without words.
package struct SearchQuery: Hashable, Sendable {
    /// A word, a beginning of one, or a phrase.
    package struct Term: Hashable, Sendable {
        /// Words that follow each other; at least one.
        package var tokens: [String]
        /// Whether the last word only has to begin as given.
        package var isPrefix: Bool

        package init(_ tokens: [String], isPrefix: Bool = false) {
            self.tokens = tokens
            self.isPrefix = isPrefix
        }
    }

    /// Terms that must all occur, and terms that must not.
    package struct Alternative: Hashable, Sendable {
        package var required: [Term]
        package var excluded: [Term]

        package init(required: [Term], excluded: [Term] = []) {
            self.required = required
            self.excluded = excluded
        }
    }

    /// What the query finds: texts that fulfill one of these. Each has a required term.
    package let alternatives: [Alternative]

    /// The most terms that are read; further ones are left out, so that no text makes an excessive condition.
    package static let mostTerms = 64
    /// The most words of a phrase.
    package static let mostTokens = 64

    /// Whether the query finds nothing.
    package var isEmpty: Bool { alternatives.isEmpty }

    /// The required terms of all alternatives, each once: what ranks and excerpts look for.
    package var terms: [Term] {
        var seen = Set<Term>()
        return alternatives.flatMap(\.required).filter { seen.insert($0).inserted }
    }

    package init(alternatives: [Alternative]) {
        self.alternatives = alternatives.filter { !$0.required.isEmpty }
    }

    /// Reads a query as a person wrote it.
    package init(_ text: String, tokenizer: SearchTokenizer = SearchTokenizer()) {
        var alternatives: [Alternative] = []
        var current = Alternative(required: [])
        var count = 0
        for item in QueryItem.items(of: text) {
            if item == .or {
                alternatives.append(current)
                current = Alternative(required: [])
                continue
            }
            guard case .words(let words, let isPrefix, let isExcluded) = item,
                let term = Term(words, isPrefix: isPrefix, tokenizer: tokenizer)
            else { continue }
            if isExcluded { current.excluded.append(term) } else { current.required.append(term) }
            count += 1
            if count == Self.mostTerms { break }
        }
        self.init(alternatives: alternatives + [current])
    }
}

extension SearchQuery.Term {
    /// The term of a piece of a query; nil if there is no word in it.
    init?(_ text: String, isPrefix: Bool, tokenizer: SearchTokenizer) {
        // The beginning of a word has no ending yet.
        let stems = tokenizer.stemsEnglish
        var tokens = SearchTokenizer(stemsEnglish: false).tokens(of: text).filter { $0.kind != .boundary }
        guard !tokens.isEmpty else { return nil }
        var isPrefix = isPrefix
        if tokens[tokens.count - 1].kind == .last {
            // A run's last pair says what its last character says; a single character begins a pair or is the last one.
            if tokens.count > 1, tokens[tokens.count - 2].kind == .pair {
                tokens.removeLast()
                isPrefix = false
            } else {
                isPrefix = true
            }
        }
        if tokens.count > SearchQuery.mostTokens {
            tokens.removeLast(tokens.count - SearchQuery.mostTokens)
            isPrefix = false
        }
        var texts = tokens.map(\.text)
        if stems {
            for index in texts.indices where tokens[index].kind == .word {
                var bytes = Array(texts[index].utf8)
                EnglishStemming.stem(&bytes)
                let stem = String(decoding: bytes, as: UTF8.self)
                texts[index] =
                    isPrefix && index == texts.count - 1 ? texts[index].commonPrefix(with: stem) : stem
            }
        }
        self.init(texts, isPrefix: isPrefix)
    }
}

extension String {
    /// The characters in which two words of ASCII, or equal ones, begin.
    fileprivate func commonPrefix(with other: String) -> String {
        String(decoding: zip(utf8, other.utf8).prefix { $0 == $1 }.map(\.0), as: UTF8.self)
    }
}

/// A piece of a query's text.
private enum QueryItem: Equatable {
    case words(String, isPrefix: Bool, isExcluded: Bool)
    case or

    /// Divides a query at its spaces and quotes. Pure.
    static func items(of text: String) -> [QueryItem] {
        var result: [QueryItem] = []
        var rest = Substring(text).unicodeScalars
        // The last OR, while nothing follows it, is a word as well.
        var mayDivide = false
        while let first = rest.first {
            if first.properties.isWhitespace {
                rest.removeFirst()
                continue
            }
            var isExcluded = false
            if first == "-", let next = rest.dropFirst().first, !next.properties.isWhitespace {
                isExcluded = true
                rest.removeFirst()
            }
            if let first = rest.first, isQuote(first) {
                rest.removeFirst()
                let content = rest.prefix { !isQuote($0) }
                rest = rest[content.endIndex...].dropFirst()
                var isPrefix = content.last == "*"
                if rest.first == "*" {
                    isPrefix = true
                    rest.removeFirst()
                }
                result.append(.words(String(content), isPrefix: isPrefix, isExcluded: isExcluded))
                mayDivide = true
                continue
            }
            let word = rest.prefix { !$0.properties.isWhitespace && !isQuote($0) }
            rest = rest[word.endIndex...]
            if String(word) == "OR", !isExcluded, mayDivide, rest.contains(where: { !$0.properties.isWhitespace }) {
                result.append(.or)
                mayDivide = false
                continue
            }
            result.append(.words(String(word), isPrefix: word.last == "*", isExcluded: isExcluded))
            mayDivide = true
        }
        return result
    }

    private static func isQuote(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "\"", "\u{201C}", "\u{201D}", "\u{201E}", "\u{201F}", "\u{FF02}": true
        default: false
        }
    }
}

extension SearchTokenizer {
    /// A text's words as content of an FTS5 table, whose tokenizer must be ``fts5Tokenizer``.
    package func fts5Content(of text: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        forEachToken(of: text) { token, _, _ in
            if !bytes.isEmpty { bytes.append(0x20) }
            bytes.append(contentsOf: token)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The tokenizer that divides such content at its spaces, and nowhere else: all characters beyond ASCII belong to
    /// words, and so do ASCII's letters and digits, the only characters of ASCII that tokens have.
    package static let fts5Tokenizer = "ascii"
}

extension SearchQuery {
    /// The query as an expression for `MATCH` on a table of such content; nil if the query finds nothing.
    package var fts5Expression: String? {
        guard !isEmpty else { return nil }
        return alternatives.map { alternative in
            let required = alternative.required.map(\.fts5).joined(separator: " AND ")
            guard !alternative.excluded.isEmpty else { return "(\(required))" }
            return "((\(required)) NOT (\(alternative.excluded.map(\.fts5).joined(separator: " OR "))))"
        }.joined(separator: " OR ")
    }
}

extension SearchQuery.Term {
    fileprivate var fts5: String {
        "\"\(tokens.joined(separator: " "))\"" + (isPrefix ? " *" : "")
    }
}

extension SearchTokenizer {
    /// Words of texts as PostgreSQL keeps them: the text of a `tsvector`, to be cast.
    ///
    /// PostgreSQL counts positions to 16,383 and keeps 256 of them for a word; what is beyond is found by its words,
    /// not by phrases (see ``SearchQuery/tsquery(hasPhrases:)``).
    ///
    /// - Parameters:
    ///   - fields: the texts. Phrases do not reach from one into the next.
    ///   - labels: `A` to `D` for each text, what ranks are computed from; `D` beyond the list.
    ///   - prefix: what each word begins with there. It has no quotes and no backslashes.
    /// - Returns: the words; an empty text if there are none.
    package func tsvector(of fields: [String], labels: [Character] = [], prefix: String = "") -> SearchVector {
        var positions: [String: [String]] = [:]
        var order: [String] = []
        var position = 1
        var isWhole = true
        for (field, text) in fields.enumerated() {
            let label = field < labels.count && labels[field] != "D" ? String(labels[field]) : ""
            forEachToken(of: text) { bytes, _, kind in
                if kind == .boundary {
                    position += 1
                    return
                }
                let token = String(decoding: bytes, as: UTF8.self)
                var places = positions[token] ?? []
                if positions[token] == nil { order.append(token) }
                positions[token] = []
                if position <= SearchPostgresLimits.lastPosition, places.count < SearchPostgresLimits.mostPositions {
                    places.append("\(position)\(label)")
                } else {
                    isWhole = false
                }
                positions[token] = places
                position += 1
            }
            // The next text does not continue this one's phrases.
            position += 1
        }
        // As PostgreSQL counts: bytes of words, and two for each position and for their number.
        let size = order.reduce(0) { $0 + prefix.utf8.count + $1.utf8.count + 3 + 2 * (positions[$1]?.count ?? 0) }
        guard size <= SearchPostgresLimits.mostBytes else { return SearchVector(text: nil, isWhole: false) }
        let text = order.map { token in
            let list = (positions[token] ?? []).joined(separator: ",")
            return list.isEmpty ? "'\(prefix)\(token)'" : "'\(prefix)\(token)':\(list)"
        }.joined(separator: " ")
        return SearchVector(text: text, isWhole: isWhole)
    }
}

/// Words of texts as PostgreSQL keeps them.
package struct SearchVector: Hashable, Sendable {
    /// The text of a `tsvector`; nil for more words than one holds.
    package let text: String?
    /// Whether it has all places of all words.
    package let isWhole: Bool
}

/// What PostgreSQL keeps of words' positions.
package enum SearchPostgresLimits {
    package static let lastPosition = 16_383
    package static let mostPositions = 255
    /// What a `tsvector` holds, less some.
    package static let mostBytes = 1_000_000
}

extension SearchQuery {
    /// The query as the text of a `tsquery`, to be cast.
    ///
    /// - Parameters:
    ///   - hasPhrases: false for a condition that long documents fulfill as well whose words' positions PostgreSQL did
    ///     not keep: phrases are their words, in any order. It finds at least what the query finds.
    ///   - prefix: what each word begins with there.
    /// - Returns: the text; nil if the query finds nothing.
    package func tsquery(hasPhrases: Bool = true, prefix: String = "") -> String? {
        guard !isEmpty else { return nil }
        return alternatives.map { alternative in
            let excluded = alternative.excluded.filter { hasPhrases || $0.tokens.count == 1 }
            let parts =
                alternative.required.map { $0.tsquery(hasPhrases, prefix) }
                + excluded.map { "!\($0.tsquery(hasPhrases, prefix))" }
            return "(\(parts.joined(separator: " & ")))"
        }.joined(separator: " | ")
    }

    /// Whether the query has words that must follow each other.
    package var hasPhrases: Bool {
        alternatives.contains { ($0.required + $0.excluded).contains { $0.tokens.count > 1 } }
    }
}

extension SearchQuery.Term {
    fileprivate func tsquery(_ isPhrase: Bool, _ prefix: String) -> String {
        let words = tokens.enumerated().map { index, token in
            "'\(prefix)\(token)'" + (isPrefix && index == tokens.count - 1 ? ":*" : "")
        }
        return words.count == 1 ? words[0] : "(\(words.joined(separator: isPhrase ? " <-> " : " & ")))"
    }
}
