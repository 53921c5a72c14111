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
    /// - Returns: the text; empty if there are no words.
    package func tsvector(of fields: [String], labels: [Character] = []) -> String {
        var positions: [String: [String]] = [:]
        var order: [String] = []
        var position = 1
        for (field, text) in fields.enumerated() {
            let label = field < labels.count && labels[field] != "D" ? String(labels[field]) : ""
            forEachToken(of: text) { bytes, _, _ in
                let token = String(decoding: bytes, as: UTF8.self)
                var places = positions[token] ?? []
                if positions[token] == nil { order.append(token) }
                positions[token] = []
                if position <= SearchPostgresLimits.lastPosition, places.count < SearchPostgresLimits.mostPositions {
                    places.append("\(position)\(label)")
                }
                positions[token] = places
                position += 1
            }
            // The next text does not continue this one's phrases.
            position += 1
        }
        return order.map { token in
            let list = (positions[token] ?? []).joined(separator: ",")
            return list.isEmpty ? "'\(token)'" : "'\(token)':\(list)"
        }.joined(separator: " ")
    }
}

/// What PostgreSQL keeps of words' positions.
package enum SearchPostgresLimits {
    package static let lastPosition = 16_383
    package static let mostPositions = 255
}

extension SearchQuery {
    /// The query as the text of a `tsquery`, to be cast.
    ///
    /// - Parameter hasPhrases: false for a condition that long documents fulfill as well whose words' positions
    ///   PostgreSQL did not keep: phrases are their words, in any order. It finds at least what the query finds.
    /// - Returns: the text; nil if the query finds nothing.
    package func tsquery(hasPhrases: Bool = true) -> String? {
        guard !isEmpty else { return nil }
        return alternatives.map { alternative in
            let excluded = alternative.excluded.filter { hasPhrases || $0.tokens.count == 1 }
            let parts =
                alternative.required.map { $0.tsquery(hasPhrases) } + excluded.map { "!\($0.tsquery(hasPhrases))" }
            return "(\(parts.joined(separator: " & ")))"
        }.joined(separator: " | ")
    }

    /// Whether the query has words that must follow each other.
    package var hasPhrases: Bool {
        alternatives.contains { ($0.required + $0.excluded).contains { $0.tokens.count > 1 } }
    }
}

extension SearchQuery.Term {
    fileprivate func tsquery(_ isPhrase: Bool) -> String {
        let words = tokens.enumerated().map { index, token in
            "'\(token)'" + (isPrefix && index == tokens.count - 1 ? ":*" : "")
        }
        return words.count == 1 ? words[0] : "(\(words.joined(separator: isPhrase ? " <-> " : " & ")))"
    }
}
