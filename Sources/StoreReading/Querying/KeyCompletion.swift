import CoreData

/// What may come next in a filter that is being typed. Pure.
package struct KeyCompletion: Equatable {
    package struct Item: Equatable {
        package let text: String
        /// A description: a type, or the destination of a relationship.
        package let detail: String
    }

    /// The characters that an item replaces.
    package let range: Range<Int>
    package let items: [Item]

    /// - Parameters:
    ///   - text: the typed text.
    ///   - cursor: the position of the cursor, in characters.
    ///   - entity: the entity whose objects are filtered.
    package init(_ text: String, cursor: Int, entity: EntityLayout) {
        let words = Words(String(text.prefix(cursor))).words
        var typed = ""
        if let last = words.last, last.range.upperBound == cursor, last.text.first?.isLetter == true {
            typed = last.text
        }
        if let last = words.last, last.isQuoted, last.range.upperBound == cursor {
            (range, items) = (cursor..<cursor, [])
            return
        }
        let before = typed.isEmpty ? words.last : words.dropLast().last
        let keys = typed.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let prefix = keys.last ?? ""
        range = cursor - prefix.count..<cursor
        if keys.count > 1 {
            var current: EntityLayout? = entity
            for key in keys.dropLast() { current = current.flatMap { Self.step(key, from: $0) }?.entity }
            items = current.map { Self.properties(of: $0, prefix) } ?? []
        } else if let before, Self.isOperand(before, entity) {
            items = Self.operators(after: before, entity).filter { Self.matches($0.text, prefix) }
        } else {
            items = Self.properties(of: entity, prefix)
        }
    }

    /// The target of a key.
    static func step(_ key: String, from entity: EntityLayout) -> (entity: EntityLayout?, isMany: Bool)? {
        for candidate in entity.selfAndSubentities {
            if let relationship = candidate.relationship(named: key) {
                return (relationship.destination, relationship.isToMany)
            }
            if candidate.slotIndex(forName: key) != nil { return (nil, false) }
        }
        return nil
    }

    /// The properties of an entity and its subentities.
    static func names(of entity: EntityLayout) -> [String] {
        Set(entity.selfAndSubentities.flatMap(\.propertyByName.keys)).sorted()
    }

    private static func properties(of entity: EntityLayout, _ prefix: String) -> [Item] {
        var seen: Set<String> = []
        var items: [Item] = []
        for candidate in entity.selfAndSubentities {
            for slot in candidate.slots
            where slot.attribute != nil && !slot.isTransient && seen.insert(slot.name).inserted {
                items.append(Item(text: slot.name, detail: slot.attribute.map { TypeName.of($0.type) } ?? ""))
            }
            for relationship in candidate.relationships where seen.insert(relationship.name).inserted {
                let many = relationship.isToMany ? "many " : ""
                items.append(Item(text: relationship.name, detail: "→ \(many)\(relationship.destination.name)"))
            }
        }
        return Array(items.filter { matches($0.text, prefix) }.prefix(40))
    }

    private static func matches(_ name: String, _ prefix: String) -> Bool {
        prefix.isEmpty || name.lowercased().hasPrefix(prefix.lowercased())
    }

    /// Whether an operator may follow: after a key; after a value, `and`.
    private static func isOperand(_ word: Words.Word, _ entity: EntityLayout) -> Bool {
        if word.isQuoted || word.text == ")" || word.text == "}" || word.text.first?.isNumber == true { return true }
        let key = word.text.split(separator: ".").first.map(String.init) ?? ""
        return step(key, from: entity) != nil
    }

    private static func operators(after word: Words.Word, _ entity: EntityLayout) -> [Item] {
        let keys = word.text.split(separator: ".").map(String.init)
        guard !word.isQuoted, let first = keys.first, step(first, from: entity) != nil else {
            return [Item(text: "and", detail: "both"), Item(text: "or", detail: "one of them")]
        }
        var items = ["==", "!="].map { Item(text: $0, detail: $0 == "==" ? "is" : "is not") }
        switch entity.attribute(at: keys)?.type {
        case .stringAttributeType:
            items += [
                Item(text: "contains[cd]", detail: "case and accents do not matter"),
                Item(text: "beginswith", detail: "starts with"), Item(text: "endswith", detail: "ends with"),
                Item(text: "like", detail: "with * and ?"), Item(text: "matches", detail: "regular expression"),
            ]
        case nil: break
        default:
            items += [("<", "less"), ("<=", "at most"), (">", "more"), (">=", "at least"), ("between", "{low, high}")]
                .map {
                    Item(text: $0.0, detail: $0.1)
                }
        }
        return items + [Item(text: "in", detail: "one of {…}")]
    }
}

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
}
