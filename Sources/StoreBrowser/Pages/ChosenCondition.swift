import CoreData
import Foundation
import HTTPMessages
import StoreReading

/// A condition that was chosen from lists, in the place of one that was typed. Pure.
enum ChosenCondition {
    /// A comparison: its name in an address, its words, and what stands for it in a predicate.
    struct Comparison {
        let name: String
        let words: String
        let text: String
        /// Whether it compares with a value.
        var takesValue = true
    }

    static let comparisons = [
        Comparison(name: "is", words: "is", text: "=="), Comparison(name: "isnt", words: "is not", text: "!="),
        Comparison(name: "contains", words: "contains", text: "contains[cd]"),
        Comparison(name: "begins", words: "begins with", text: "beginswith[cd]"),
        Comparison(name: "less", words: "is less than", text: "<"),
        Comparison(name: "most", words: "is at most", text: "<="),
        Comparison(name: "more", words: "is more than", text: ">"),
        Comparison(name: "least", words: "is at least", text: ">="),
        Comparison(name: "none", words: "has no value", text: "== nil", takesValue: false),
        Comparison(name: "some", words: "has a value", text: "!= nil", takesValue: false),
    ]

    /// The columns to choose from: attributes that are compared, and the names of objects at the end of relationships.
    static func columns(of entity: EntityLayout) -> [String] {
        GridPage.columns(of: entity).compactMap { index in
            let slot = entity.slots[index]
            if let attribute = slot.attribute { return isCompared(attribute.type) ? slot.name : nil }
            guard let destination = slot.relationship?.destination, let name = ObjectLabel.slot(of: destination) else {
                return slot.name
            }
            return "\(slot.name).\(destination.slots[name].name)"
        }
    }

    private static func isCompared(_ type: NSAttributeType) -> Bool {
        switch type {
        case .binaryDataAttributeType, .transformableAttributeType, .compositeAttributeType: false
        default: true
        }
    }

    /// The predicate with another condition in it.
    ///
    /// - Parameters:
    ///   - column: one of ``columns(of:)``.
    ///   - name: the name of a comparison.
    ///   - value: what to compare with, as it was typed.
    ///   - filter: the predicate so far; empty for none.
    ///   - entity: the entity.
    /// - Returns: the text of the predicate; nil for a column or a comparison that is not there to be chosen.
    static func filter(
        adding column: String, _ name: String, _ value: String, to filter: String, of entity: EntityLayout
    ) -> String? {
        guard columns(of: entity).contains(column), let comparison = comparisons.first(where: { $0.name == name })
        else {
            return nil
        }
        let keys = column.split(separator: ".").map(String.init)
        let type = entity.attribute(at: keys)?.type
        // A number sign makes a name of what is a word of the language.
        let path = keys.map { "#\($0)" }.joined(separator: ".")
        var condition = "\(path) \(comparison.text)"
        if comparison.takesValue { condition += " \(literal(value, type, comparison))" }
        let typed = filter.trimmingCharacters(in: .whitespacesAndNewlines)
        return typed.isEmpty ? condition : "(\(typed)) and \(condition)"
    }

    /// A value in the predicate language: a number as it is, everything else in quotation marks.
    static func literal(_ value: String, _ type: NSAttributeType?, _ comparison: Comparison) -> String {
        let trimmed = value.trimmingCharacters(in: .whitespaces)
        if type == .booleanAttributeType, let flag = try? ValueText.value(trimmed, .booleanAttributeType) as? NSNumber {
            return flag.boolValue ? "true" : "false"
        }
        if type?.isNumber == true, Double(trimmed)?.isFinite == true,
            trimmed.utf8.allSatisfy({ "0123456789.-eE".utf8.contains($0) })
        {
            return trimmed
        }
        return quoted(value)
    }

    static func quoted(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}

extension GridPage {
    /// A condition to choose in the place of typing it, and the columns to show.
    static func choice(_ query: GridQuery, _ site: Site) -> HTML {
        let entity = query.entity
        func hidden(besides names: Set<String>) -> HTML {
            query.items().compactMap { name, value -> HTML? in
                guard !names.contains(name), let value else { return nil }
                return "<input type=\"hidden\" name=\"\(name)\" value=\"\(HTML(value: value))\">"
            }.joined()
        }
        let columns: [HTML] = ChosenCondition.columns(of: entity).map { "<option>\($0)</option>" }
        let comparisons: [HTML] = ChosenCondition.comparisons.map {
            "<option value=\"\($0.name)\">\($0.words)</option>"
        }
        let boxes = Self.columns(of: entity).map { slot -> HTML in
            let name = entity.slots[slot].name
            let checked: HTML = query.hidden.contains(name) ? "" : " checked"
            return
                "<label><input type=\"checkbox\" name=\"show\" value=\"\(HTML(value: name))\"\(checked)> \(name)</label>"
        }
        return """
            <form class="choose" action="\(site.link(to: entity))">\(hidden(besides: []))
            <label class="hidden" for="column">Column</label><select id="column" name="column">\(columns.joined())</select>
            <label class="hidden" for="comparison">Comparison</label><select id="comparison" name="comparison">\(comparisons.joined())</select>
            <input name="value" aria-label="Value" autocomplete="off"><button>Add condition</button></form>
            <details class="columns"\(query.hidden.isEmpty ? "" : " open" as HTML)><summary>Columns</summary><form action="\(site.link(to: entity))">
            \(hidden(besides: ["hide"]))\(boxes.joined())<button name="columns" value="chosen">Show these</button></form></details>
            """
    }
}
