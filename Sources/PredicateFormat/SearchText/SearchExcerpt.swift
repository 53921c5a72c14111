/// A piece of a text, chosen to show what a search found in it.
public struct SearchExcerpt: Hashable, Sendable {
    /// The piece, as it stands in the text.
    public let text: String
    /// Where the piece has what was searched for, in its order; not overlapping.
    public let matches: [Range<String.Index>]
    /// Whether the text has more before the piece.
    public let isCutAtStart: Bool
    /// Whether the text has more after the piece.
    public let isCutAtEnd: Bool

    /// The piece with marks around the matches, and with `…` where the text goes on. Nothing is escaped.
    ///
    /// - Parameters:
    ///   - opening: what comes before each match.
    ///   - closing: what comes after each match.
    /// - Returns: a text for display.
    public func marked(_ opening: String, _ closing: String) -> String {
        var result = isCutAtStart ? "…" : ""
        var place = text.startIndex
        for match in matches {
            result += text[place..<match.lowerBound] + opening + text[match] + closing
            place = match.upperBound
        }
        result += text[place...]
        return isCutAtEnd ? result + "…" : result
    }
}

extension SearchScan {
    /// The piece of a text that has the most of the query's terms; the first words if it has none.
    ///
    /// - Parameters:
    ///   - text: the text as it was written.
    ///   - words: the most words that the piece has.
    /// - Returns: the piece.
    package func excerpt(of text: String, words: Int) -> SearchExcerpt {
        let words = max(1, words)
        var text = text
        text.makeContiguousUTF8()
        let places = places(in: text)
        var tokens: [Range<Int>] = []
        // A run's last character is within its last pair.
        SearchTokenizer().forEachToken(of: text) { _, range, _ in
            if let last = tokens.last, range.upperBound <= last.upperBound { return }
            tokens.append(range)
        }
        guard !tokens.isEmpty else {
            let end = text.index(text.startIndex, offsetBy: words * 8, limitedBy: text.endIndex) ?? text.endIndex
            return SearchExcerpt(
                text: String(text[..<end]), matches: [], isCutAtStart: false, isCutAtEnd: end < text.endIndex)
        }
        let window = bestWindow(tokens, places, words)
        // With what surrounds the words, unless the piece is cut there.
        let start = window.lowerBound == 0 ? 0 : tokens[window.lowerBound].lowerBound
        let end = window.upperBound == tokens.count ? text.utf8.count : tokens[window.upperBound - 1].upperBound
        let from = text.characterStart(atOrBefore: start)
        let to = text.characterEnd(atOrAfter: end)
        let piece = String(text[from..<to])
        let offset = text.utf8.distance(from: text.startIndex, to: from)
        var ranges: [Range<Int>] = []
        for place in places where place.range.lowerBound >= start && place.range.upperBound <= end {
            let low = place.range.lowerBound - offset
            let high = place.range.upperBound - offset
            if let last = ranges.last, low <= last.upperBound {
                ranges[ranges.count - 1] = last.lowerBound..<max(last.upperBound, high)
            } else {
                ranges.append(low..<high)
            }
        }
        let matches = ranges.map { range in
            piece.utf8.index(
                piece.startIndex, offsetBy: range.lowerBound)..<piece.utf8.index(
                    piece.startIndex, offsetBy: range.upperBound)
        }
        return SearchExcerpt(
            text: piece, matches: matches, isCutAtStart: from > text.startIndex, isCutAtEnd: to < text.endIndex)
    }

    /// The words to show: those with most different terms, then with most places; with some words before the first.
    private func bestWindow(
        _ tokens: [Range<Int>], _ places: [(term: Int, range: Range<Int>)], _ words: Int
    ) -> Range<Int> {
        guard tokens.count > words, !places.isEmpty else { return 0..<min(tokens.count, words) }
        var token = 0
        // The number of the word at which each place begins, and of the one at which it ends.
        var spans: [(term: Int, first: Int, last: Int)] = []
        for place in places {
            while token + 1 < tokens.count, tokens[token].upperBound <= place.range.lowerBound { token += 1 }
            var last = token
            while last + 1 < tokens.count, tokens[last].upperBound < place.range.upperBound { last += 1 }
            spans.append((place.term, token, last))
        }
        var best = (terms: 0, count: 0, start: spans[0].first, end: spans[0].last)
        var end = 0
        var counts: [Int: Int] = [:]
        for (index, span) in spans.enumerated() {
            while end < spans.count, end <= index || spans[end].last < span.first + words {
                counts[spans[end].term, default: 0] += 1
                end += 1
            }
            if (counts.count, end - index) > (best.terms, best.count) {
                best = (counts.count, end - index, span.first, spans[end - 1].last)
            }
            if let left = counts[span.term] { counts[span.term] = left == 1 ? nil : left - 1 }
        }
        let spare = max(0, words - (best.end - best.start + 1))
        let start = max(0, min(best.start - spare / 2, tokens.count - words))
        return start..<min(tokens.count, start + words)
    }
}

extension String {
    /// The beginning of the character that has the byte at an offset.
    fileprivate func characterStart(atOrBefore offset: Int) -> String.Index {
        let index = utf8.index(startIndex, offsetBy: offset)
        return index == endIndex ? index : self.index(before: self.index(after: index, orEnd: endIndex))
    }

    /// The end of the character that has the byte before an offset.
    fileprivate func characterEnd(atOrAfter offset: Int) -> String.Index {
        guard offset > 0 else { return startIndex }
        let start = characterStart(atOrBefore: offset - 1)
        return start == endIndex ? start : index(after: start)
    }

    private func index(after index: String.Index, orEnd end: String.Index) -> String.Index {
        index == end ? end : self.index(after: index)
    }
}
