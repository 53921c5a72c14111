/// A text in the predicate language, as words and signs with their positions: enough to find a key in it, and the word
/// that is being typed. Pure.
package struct Words {
    package struct Word: Equatable {
        package let text: String
        /// In characters.
        package let range: Range<Int>
        /// Whether it is a text in quotation marks, which may lack the closing one.
        package var isQuoted = false
    }

    package private(set) var words: [Word] = []

    /// Splits a text into keys with their dots (`author.name`, `reviews.@count`), texts in quotation marks, numbers,
    /// and single signs.
    package init(_ text: String) {
        let characters = Array(text)
        var position = 0
        while position < characters.count {
            let start = position
            let first = characters[position]
            position += 1
            if first.isWhitespace { continue }
            if first == "\"" || first == "'" {
                while position < characters.count, characters[position] != first {
                    position += characters[position] == "\\" ? 2 : 1
                }
                position = min(position + 1, characters.count)
            } else if Self.isPart(first) {
                while position < characters.count, Self.isPart(characters[position]) { position += 1 }
            }
            words.append(
                Word(
                    text: String(characters[start..<position]), range: start..<position,
                    isQuoted: first == "\"" || first == "'"))
        }
    }

    private static func isPart(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || "_.@#$%".contains(character)
    }

    /// The word at a position, or the one that ends there.
    package func word(at offset: Int) -> Word? {
        words.first { $0.range.contains(offset) } ?? words.first { $0.range.upperBound == offset }
    }
}
