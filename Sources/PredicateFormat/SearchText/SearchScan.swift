#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// What one document has of a query's terms.
package struct SearchFindings: Sendable {
    /// Whether the document fulfills the query.
    package var matches: Bool
    /// For each of the query's required terms, how often it is in each field.
    package var counts: [[Int]]
    /// How many words the document has, in all fields.
    package var length: Int
}

/// A query made ready to be compared with many documents, one after the other. A document is its fields' texts.
package struct SearchScan: Sendable {
    private let tokenizer: SearchTokenizer
    /// The query's terms, required and excluded, each once: first ``rankedCount`` required ones.
    private let terms: [SearchQuery.Term]
    /// How many terms count for ranks.
    package let rankedCount: Int
    /// The alternatives, as places of terms.
    private let alternatives: [(required: [Int], excluded: [Int])]
    /// The different words of all terms, as bytes, and for which terms' words each stands.
    private let words: [Word]
    /// The words by their first byte.
    private let byFirstByte: [[Int]]

    private struct Word {
        var bytes: [UInt8]
        var isPrefix: Bool

        @inline(__always)
        func fits(_ token: UnsafeBufferPointer<UInt8>) -> Bool {
            if isPrefix ? token.count < bytes.count : token.count != bytes.count { return false }
            for index in bytes.indices where bytes[index] != token[index] { return false }
            return true
        }
    }

    private struct Key: Hashable {
        var text: String
        var isPrefix: Bool
    }

    /// For each term, the places of its words in ``words``.
    private let wordsOfTerms: [[Int]]

    package init(_ query: SearchQuery, tokenizer: SearchTokenizer) {
        self.tokenizer = tokenizer
        var terms = query.terms
        rankedCount = terms.count
        var places: [SearchQuery.Term: Int] = [:]
        for (place, term) in terms.enumerated() { places[term] = place }
        func place(_ term: SearchQuery.Term) -> Int {
            if let known = places[term] { return known }
            places[term] = terms.count
            terms.append(term)
            return terms.count - 1
        }
        alternatives = query.alternatives.map { ($0.required.map(place), $0.excluded.map(place)) }
        self.terms = terms
        var words: [Word] = []
        var wordPlaces: [Key: Int] = [:]
        wordsOfTerms = terms.map { term in
            term.tokens.enumerated().map { index, token in
                let key = Key(text: token, isPrefix: term.isPrefix && index == term.tokens.count - 1)
                if let known = wordPlaces[key] { return known }
                wordPlaces[key] = words.count
                words.append(Word(bytes: Array(token.utf8), isPrefix: key.isPrefix))
                return words.count - 1
            }
        }
        self.words = words
        var byFirstByte: [[Int]] = Array(repeating: [], count: 256)
        for (place, word) in words.enumerated() {
            if let first = word.bytes.first { byFirstByte[Int(first)].append(place) }
        }
        self.byFirstByte = byFirstByte
    }

    /// Compares the query with a document.
    package func findings(in fields: [String]) -> SearchFindings {
        var counts = Array(repeating: Array(repeating: 0, count: fields.count), count: terms.count)
        var length = 0
        for (field, text) in fields.enumerated() {
            let occurrences = occurrences(in: text)
            length += occurrences.length
            for term in terms.indices {
                counts[term][field] = starts(of: term, in: occurrences).count
            }
        }
        let found = counts.map { $0.contains { $0 > 0 } }
        let matches = alternatives.contains { alternative in
            alternative.required.allSatisfy { found[$0] } && !alternative.excluded.contains { found[$0] }
        }
        return SearchFindings(matches: matches, counts: Array(counts.prefix(rankedCount)), length: length)
    }

    /// Whether a document fulfills the query.
    package func matches(_ fields: [String]) -> Bool { findings(in: fields).matches }

    /// The places in a text at which required terms are: the term, and the offsets of UTF-8 bytes; in the text's order.
    package func places(in text: String) -> [(term: Int, range: Range<Int>)] {
        let occurrences = occurrences(in: text)
        var result: [(term: Int, range: Range<Int>)] = []
        for term in 0..<rankedCount {
            let last = wordsOfTerms[term].count - 1
            for start in starts(of: term, in: occurrences) {
                guard let from = occurrences.ranges[start], let to = occurrences.ranges[start + last] else { continue }
                result.append((term, from.lowerBound..<max(from.upperBound, to.upperBound)))
            }
        }
        return result.sorted { ($0.range.lowerBound, $0.range.upperBound) < ($1.range.lowerBound, $1.range.upperBound) }
    }

    /// Where a text has the query's words.
    private struct Occurrences {
        /// For each word, the numbers of the text's tokens that are it, ascending.
        var positions: [[Int]]
        /// The places of these tokens in the text.
        var ranges: [Int: Range<Int>] = [:]
        /// How many tokens the text has.
        var length = 0
    }

    private func occurrences(in text: String) -> Occurrences {
        var result = Occurrences(positions: Array(repeating: [], count: words.count))
        tokenizer.forEachToken(of: text) { bytes, range, _ in
            for place in byFirstByte[Int(bytes[0])] where words[place].fits(bytes) {
                result.positions[place].append(result.length)
                result.ranges[result.length] = range
            }
            result.length += 1
        }
        return result
    }

    /// The numbers of the tokens at which a term begins.
    private func starts(of term: Int, in occurrences: Occurrences) -> [Int] {
        let words = wordsOfTerms[term]
        guard let first = words.first else { return [] }
        let starts = occurrences.positions[first]
        if words.count == 1 || starts.isEmpty { return starts }
        let following = words.dropFirst().map { Set(occurrences.positions[$0]) }
        return starts.filter { start in
            following.enumerated().allSatisfy { offset, positions in positions.contains(start + offset + 1) }
        }
    }
}

/// Collects the documents that fulfill a query, and ranks them when all documents are known: BM25 with the constants
/// of SQLite's FTS5, over all documents that were compared, found or not.
package struct SearchRanking<Key> {
    /// A document that was found. Less is better, as with `bm25()`; ranks are negative.
    package struct Hit {
        package var key: Key
        package var rank: Double
    }

    private struct Found {
        var key: Key
        /// For each term, how often it occurs, with the fields' weights.
        var frequencies: [Double]
        var length: Int
    }

    private let weights: [Double]
    private var found: [Found] = []
    private var documents = 0
    private var totalLength = 0
    /// For each term, how many documents have it.
    private var documentsWithTerm: [Int]

    /// - Parameters:
    ///   - scan: the query.
    ///   - weights: how much an occurrence counts in each field; 1 for fields beyond the list.
    package init(_ scan: SearchScan, weights: [Double] = []) {
        self.weights = weights
        documentsWithTerm = Array(repeating: 0, count: scan.rankedCount)
    }

    /// How many documents were found.
    package var count: Int { found.count }

    /// Adds what the query found in a document.
    package mutating func add(_ findings: SearchFindings, key: @autoclosure () throws -> Key) rethrows {
        documents += 1
        totalLength += findings.length
        for (term, counts) in findings.counts.enumerated() where counts.contains(where: { $0 > 0 }) {
            documentsWithTerm[term] += 1
        }
        guard findings.matches else { return }
        let frequencies = findings.counts.map { counts in
            counts.enumerated().reduce(0) { $0 + Double($1.element) * weight(of: $1.offset) }
        }
        found.append(Found(key: try key(), frequencies: frequencies, length: findings.length))
    }

    private func weight(of field: Int) -> Double { field < weights.count ? weights[field] : 1 }

    /// The documents that were found, best first; equal ones in the order in which they were added.
    package func hits() -> [Hit] {
        let inverse = documentsWithTerm.map { count in
            let ratio = (Double(documents) - Double(count) + 0.5) / (Double(count) + 0.5)
            return max(1e-6, log(ratio))
        }
        let average = documents == 0 ? 1 : max(Double(totalLength) / Double(documents), 1e-9)
        let ranked = found.enumerated().map { place, document in
            let shape = 1.2 * (1 - 0.75 + 0.75 * Double(document.length) / average)
            let score = zip(document.frequencies, inverse).reduce(0.0) { sum, term in
                sum + term.1 * (term.0 * 2.2) / (term.0 + shape)
            }
            return (place, Hit(key: document.key, rank: -score))
        }
        return ranked.sorted { ($0.1.rank, $0.0) < ($1.1.rank, $1.0) }.map(\.1)
    }
}
