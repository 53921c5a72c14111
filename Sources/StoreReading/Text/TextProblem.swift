/// The problem of a typed text, and its position.
package struct TextProblem: Error, Equatable {
    package let text: String
    /// The wrong characters; empty at a position where something is missing.
    package let range: Range<Int>
    /// What was expected, as the beginning of a sentence.
    package let reason: String
    /// What may have been meant.
    package var suggestions: [String] = []

    package init(_ text: String, _ range: Range<Int>, _ reason: String, suggestions: [String] = []) {
        (self.text, self.range, self.reason, self.suggestions) = (text, range, reason, suggestions)
    }

    /// The same problem for a text that contains this one.
    package func within(_ whole: String, at offset: Int) -> TextProblem {
        TextProblem(whole, range.lowerBound + offset..<range.upperBound + offset, reason, suggestions: suggestions)
    }

    /// The reason and the suggestions, in a sentence.
    package var sentence: String {
        suggestions.isEmpty
            ? reason : "\(reason); \(suggestions.map { "“\($0)”" }.joined(separator: " or ")) may be meant"
    }

    /// The sentence, the text, and a mark under its wrong part.
    package var description: String {
        let line = text.map { $0.isNewline || $0 == "\t" ? " " : $0 }
        let mark = String(repeating: " ", count: range.lowerBound) + String(repeating: "^", count: max(1, range.count))
        return "\(sentence)\n    \(String(line))\n    \(mark)"
    }

    /// What to say of a name that does not exist: the names that may be meant, or all that there are.
    ///
    /// - Parameters:
    ///   - name: the name.
    ///   - names: those that exist.
    ///   - all: what stands before all names: “it has”.
    /// - Returns: the end of a sentence.
    package static func hint(for name: String, among names: [String], all: String = "it has") -> String {
        let near = near(name, among: names).map { "“\($0)”" }
        return near.isEmpty
            ? "\(all) \(names.joined(separator: ", "))" : "\(near.joined(separator: " or ")) may be meant"
    }

    /// Names similar to one that does not exist, the most similar first.
    package static func near(_ name: String, among names: some Sequence<String>) -> [String] {
        let limit = max(1, min(3, name.count / 2))
        let ranked = names.map { (distance(name.lowercased(), $0.lowercased()), $0) }.filter { $0.0 <= limit }
        return Array(ranked.sorted { $0 < $1 }.map(\.1).prefix(3))
    }

    /// The number of letters to add, remove, change or swap with a neighbour.
    static func distance(_ first: String, _ second: String) -> Int {
        let (left, right) = (Array(first), Array(second))
        guard !left.isEmpty, !right.isEmpty else { return max(left.count, right.count) }
        var before: [Int] = []
        var last = Array(0...right.count)
        for i in 1...left.count {
            var row = [i]
            for j in 1...right.count {
                var best = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (left[i - 1] == right[j - 1] ? 0 : 1))
                if i > 1, j > 1, left[i - 1] == right[j - 2], left[i - 2] == right[j - 1] {
                    best = min(best, before[j - 2] + 1)
                }
                row.append(best)
            }
            (before, last) = (last, row)
        }
        return last[right.count]
    }
}
