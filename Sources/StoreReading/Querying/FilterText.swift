import CoreData
import Foundation
import PredicateFormat

/// Filters as people type them: the predicate language, in which dates and UUIDs may be written as texts. Pure.
package enum FilterText {
    /// The predicate of a text; nil for an empty one.
    ///
    /// - Throws: `TextProblem` that names the wrong part.
    package static func predicate(_ text: String, of entity: EntityLayout) throws(TextProblem) -> NSPredicate? {
        guard text.contains(where: { !$0.isWhitespace }) else { return nil }
        if let problem = UnquotedText.date(text, entity) { throw problem }
        let parsed: PredicateTree
        do { parsed = try predicateTree(of: NSPredicate(parsing: text)) } catch let error as PredicateFormatError {
            throw UnquotedText.text(text, entity) ?? problem(error, in: text)
        } catch {
            throw TextProblem(text, 0..<text.count, "\(error)")
        }
        if let name = parsed.openVariable {
            let word = Words(text).words.first { !$0.isQuoted && $0.text == "$\(name)" }
            throw TextProblem(text, word?.range ?? 0..<text.count, valueIsMissing("$\(name)"))
        }
        try checkKeys(of: parsed, text, entity)
        let named = parsed.mapExpressions { expression in
            guard case .keyPath(let keys) = expression else { return expression }
            return .keyPath(StoredNames.resolved(keys, in: entity))
        }
        return makePredicate(withValues(named, entity)).read(for: entity)
    }

    private static func problem(_ error: PredicateFormatError, in text: String) -> TextProblem {
        guard let position = error.position else { return TextProblem(text, 0..<text.count, error.reason) }
        let words = Words(text)
        let word = words.words.first { $0.range.contains(position) }
        if let word, !word.isQuoted, word.text.hasPrefix("%") {
            return TextProblem(text, word.range, valueIsMissing(word.text))
        }
        return TextProblem(text, word?.range ?? position..<position, error.reason)
    }

    /// What to say of a sign for which a program would give a value.
    private static func valueIsMissing(_ sign: String) -> String {
        "nothing gives “\(sign)” a value here; write the value itself, such as \"Emma\" or 10"
    }

    // MARK: Keys

    private static func checkKeys(of tree: PredicateTree, _ text: String, _ entity: EntityLayout) throws(TextProblem) {
        var found: TextProblem?
        tree.forEachComparison { comparison in
            for side in [comparison.left, comparison.right] {
                side.forEach { expression in
                    guard found == nil, case .keyPath(let keys) = expression else { return }
                    found = problem(keys, text, entity)
                }
            }
        }
        if let found { throw UnquotedText.text(text, entity) ?? found }
    }

    /// The problem of a key path; nil if it is valid.
    static func problem(_ keys: [String], _ text: String, _ entity: EntityLayout) -> TextProblem? {
        var current: EntityLayout? = entity
        for (position, key) in keys.enumerated() {
            guard let here = current else { return nil }
            if key.hasPrefix("@") || ["self", "SELF", "objectID", "entity"].contains(key) { return nil }
            if let next = KeyCompletion.step(StoredNames.resolved(key, in: here), from: here) {
                current = next.entity
                continue
            }
            let names = KeyCompletion.names(of: here)
            return TextProblem(
                text, place(of: keys, upTo: position, in: text), "“\(here.name)” has no property “\(key)”",
                suggestions: TextProblem.near(key, among: names))
        }
        return nil
    }

    /// The position of a path's key in a text.
    private static func place(of keys: [String], upTo position: Int, in text: String) -> Range<Int> {
        let path = keys.joined(separator: ".")
        for word in Words(text).words where !word.isQuoted {
            let parts = word.text.split(separator: ".", omittingEmptySubsequences: false).map { $0.drop { $0 == "#" } }
            guard word.text == path || parts.elementsEqual(keys.map { $0[...] }) else { continue }
            let start = parts[..<min(position, parts.count)].reduce(word.range.lowerBound) { $0 + $1.count + 1 }
            return start..<start + keys[position].count
        }
        return 0..<text.count
    }

    // MARK: Values

    /// Replaces texts that are compared with attributes of dates, UUIDs and URLs by the values that they spell.
    private static func withValues(_ tree: PredicateTree, _ entity: EntityLayout) -> PredicateTree {
        switch tree {
        case .constant: return tree
        case .and(let parts): return .and(parts.map { withValues($0, entity) })
        case .or(let parts): return .or(parts.map { withValues($0, entity) })
        case .not(let part): return .not(withValues(part, entity))
        case .comparison(var comparison):
            if let attribute = attribute(comparison.left, entity) {
                if comparison.comparison == .contains || comparison.modifier != .direct,
                    let list = list(comparison.left, attribute, element: comparison.right)
                {
                    comparison.left = list
                    return .comparison(comparison)
                }
                comparison.right = value(comparison.right, for: attribute)
            } else if let attribute = attribute(comparison.right, entity) {
                if comparison.comparison == .in, let list = list(comparison.right, attribute, element: comparison.left)
                {
                    comparison.right = list
                    return .comparison(comparison)
                }
                comparison.left = value(comparison.left, for: attribute)
            }
            return .comparison(comparison)
        }
    }

    /// The elements of a list that an attribute has as JSON; nil for another attribute. The value that they are
    /// compared with says which kind they are of.
    private static func list(
        _ side: ExpressionTree, _ attribute: AttributeLayout, element: ExpressionTree
    ) -> ExpressionTree? {
        guard attribute.isJSON, case .constant(let value) = element else { return nil }
        switch value {
        case .string: return .listed(side, .text)
        case .integer: return .listed(side, .integer)
        case .double: return .listed(side, .double)
        default: return nil
        }
    }

    private static func attribute(_ side: ExpressionTree, _ entity: EntityLayout) -> AttributeLayout? {
        guard case .keyPath(let keys) = side else { return nil }
        return attribute(at: keys[...], from: entity)
    }

    /// The attribute that keys lead to, over relationships of any kind and by the properties of subentities.
    fileprivate static func attribute(at keys: ArraySlice<String>, from entity: EntityLayout) -> AttributeLayout? {
        guard let key = keys.first else { return nil }
        for candidate in entity.selfAndSubentities {
            if let found = candidate.attribute(at: Array(keys)) { return found }
        }
        // `pets.@max.born` is of the type of `born`.
        let next = ["@max", "@min"].contains(key) ? entity : KeyCompletion.step(key, from: entity)?.entity
        return next.flatMap { attribute(at: keys.dropFirst(), from: $0) }
    }

    private static func value(_ side: ExpressionTree, for attribute: AttributeLayout) -> ExpressionTree {
        switch side {
        case .constant(.string(let text)): return .constant(value(text, for: attribute))
        case .constant(.collection(let values)):
            return .constant(
                .collection(
                    values.map { element in
                        if case .string(let text) = element { return value(text, for: attribute) }
                        return element
                    }))
        default: return side
        }
    }

    private static func value(_ text: String, for attribute: AttributeLayout) -> Value {
        switch attribute.type {
        case .dateAttributeType: DateText.date(text).map { .date($0) } ?? .string(text)
        case .UUIDAttributeType: UUID(uuidString: text).map { .uuid($0) } ?? .string(text)
        case .URIAttributeType: URL(string: text).map { .url($0) } ?? .string(text)
        default: .string(text)
        }
    }
}

/// Texts and dates that were typed without quotation marks: `title == Jane Austen`. Pure.
private enum UnquotedText {
    private static let operators: Set<String> = [
        "=", "<", ">", "contains", "beginswith", "endswith", "like", "matches", "in",
    ]
    private static let literals: Set<String> = [
        "nil", "null", "true", "false", "yes", "no", "self", "cast", "function",
    ]

    /// The problem of a text; nil if each text has its quotation marks.
    static func text(_ text: String, _ entity: EntityLayout) -> TextProblem? {
        problem(text, entity, [.stringAttributeType, .UUIDAttributeType, .URIAttributeType], "a text") { words, next in
            guard let first = words.first, first.text.first?.isLetter == true, next?.text != "(" else { return false }
            let key = first.text.split(separator: ".").first.map(String.init) ?? ""
            return !literals.contains(key.lowercased())
                && KeyCompletion.step(StoredNames.resolved(key, in: entity), from: entity) == nil
        }
    }

    /// The problem of a date, which would be a difference of numbers.
    static func date(_ text: String, _ entity: EntityLayout) -> TextProblem? {
        problem(text, entity, [.dateAttributeType], "a date") { words, _ in
            words.count >= 5 && words[1].text == "-" && words[3].text == "-"
                && [0, 2, 4].allSatisfy { words[$0].text.first?.isNumber == true }
        }
    }

    /// The problem of a value that is compared with an attribute of one of some types, if its words are meant to be
    /// such a value.
    private static func problem(
        _ text: String, _ entity: EntityLayout, _ types: [NSAttributeType], _ name: String,
        _ isMeant: ([Words.Word], Words.Word?) -> Bool
    ) -> TextProblem? {
        let words = Words(text).words
        for (index, word) in words.enumerated().dropFirst()
        where !word.isQuoted && operators.contains(word.text.lowercased()) {
            var left = index - 1
            while left > 0, ["!", "<", ">", "="].contains(words[left].text) { left -= 1 }
            let keys = StoredNames.resolved(words[left].text.split(separator: ".").map(String.init), in: entity)
            guard !words[left].isQuoted, let attribute = FilterText.attribute(at: keys[...], from: entity),
                types.contains(attribute.type)
            else { continue }
            var start = index + 1
            if words.indices.contains(start), words[start].text == "[" { start += 3 }
            while words.indices.contains(start), ["=", ">", "{"].contains(words[start].text) { start += 1 }
            let value = Array(words.dropFirst(start).prefix { !$0.isQuoted && !isEnd($0) })
            guard let first = value.first, let last = value.last, isMeant(value, value.dropFirst().first) else {
                continue
            }
            let range = first.range.lowerBound..<last.range.upperBound
            return TextProblem(
                text, range, "\(name) stands in quotation marks: \"\(String(Array(text)[range]))\"")
        }
        return nil
    }

    private static func isEnd(_ word: Words.Word) -> Bool {
        ["and", "or", "&", "|", ")", ",", "}"].contains(word.text.lowercased())
    }
}

/// Dates as people type them, in UTC: `2024-05-01`, `2024-05-01 13:30`, `2024-05-01T13:30:15.250Z`. Pure.
package enum DateText {
    /// The date of a text; nil if it is not a date.
    package static func date(_ text: String) -> Date? {
        let scanner = ValueText.trimmed(text)
        let parts = scanner.split(maxSplits: 1, whereSeparator: { $0 == "T" || $0 == " " })
        guard let first = parts.first else { return nil }
        // A year before year 1 has a sign.
        let isBefore = first.hasPrefix("-")
        let day = first.drop { $0 == "-" }.split(separator: "-", omittingEmptySubsequences: false)
        guard day.count == 3, (4...7).contains(day[0].count), let year = number(day[0]), let month = number(day[1]),
            let dayOfMonth = number(day[2])
        else { return nil }
        let date = CalendarDate(year: isBefore ? -year : year, month: month, day: dayOfMonth)
        guard date.isValid else { return nil }
        let days = date.daysSince2001
        var (seconds, fraction) = (0, 0.0)
        if parts.count == 2 {
            guard let time = time(parts[1]) else { return nil }
            (seconds, fraction) = time
        }
        // Rounded once, so that what ``TextTools/iso8601(_:)`` writes is the same again.
        return Date(timeIntervalSinceReferenceDate: Double(days * 86_400 + seconds) + fraction)
    }

    /// Seconds since the day began in UTC, and their fraction.
    private static func time(_ text: Substring) -> (Int, Double)? {
        var (rest, offset) = (text, 0)
        if rest.hasSuffix("Z") || rest.hasSuffix("z") {
            rest = rest.dropLast()
        } else if let sign = rest.lastIndex(where: { $0 == "+" || $0 == "-" }) {
            let zone = rest[rest.index(after: sign)...].filter { $0 != ":" }
            guard zone.count == 4, let value = Int(zone) else { return nil }
            offset = (value / 100 * 3600 + value % 100 * 60) * (rest[sign] == "-" ? -1 : 1)
            rest = rest[..<sign]
        }
        if rest.hasSuffix(" UTC") { rest = rest.dropLast(4) }
        let parts = rest.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2 || parts.count == 3, let hour = number(parts[0]), let minute = number(parts[1]),
            hour < 24,
            minute < 60
        else { return nil }
        let start = hour * 3600 + minute * 60 - offset
        guard parts.count == 3 else { return (start, 0) }
        let digits = parts[2].split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let second = number(digits[0]), second < 61 else { return nil }
        guard digits.count == 2 else { return (start + second, 0) }
        guard !digits[1].isEmpty, isDigits(digits[1]), let fraction = Double("0." + digits[1]) else { return nil }
        return (start + second, fraction)
    }

    private static func number(_ text: Substring) -> Int? { isDigits(text) ? Int(text) : nil }

    private static func isDigits(_ text: Substring) -> Bool { text.utf8.allSatisfy { (0x30...0x39).contains($0) } }
}
