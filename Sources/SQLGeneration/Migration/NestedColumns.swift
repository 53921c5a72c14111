import CoreDataModel
import Foundation
import MigrationPlans

/// The sources of the columns of a composite attribute's elements: the elements of its former attribute, the JSON that
/// was stored instead, or the elements' default values. Pure.
struct NestedColumns {
    /// The source of one column.
    struct Source {
        let column: String
        let value: MovedValue
        /// The column whose value is kept in it.
        var source: String?
    }

    /// The former attribute; nil for a new one.
    private let former: (column: SlotColumn, attribute: AttributeLayout)?
    /// The condition on rows to which default values apply; nil for all rows, `FALSE` for none.
    private var condition: SQLFragment?
    /// The condition on rows in which what the composite is in had no value, and has one now; nil if there are none.
    private var absence: SQLFragment?
    /// The condition on rows in which what the composite is in had a value; nil for all rows.
    private var owner: SQLFragment?
    /// The keys from the top of the column's JSON to the composite.
    private var path: [String] = []
    private let columns: any ColumnMoving

    init(_ column: SlotColumn?, _ attribute: AttributeLayout?, _ columns: any ColumnMoving) {
        self.columns = columns
        if let column, let attribute { former = (column, attribute) } else { former = nil }
    }

    private init(
        _ former: (column: SlotColumn, attribute: AttributeLayout)?, _ condition: SQLFragment?,
        _ absence: SQLFragment?, _ owner: SQLFragment?, _ path: [String], _ columns: any ColumnMoving
    ) {
        self.columns = columns
        self.former = former
        self.condition = condition
        self.absence = absence
        self.owner = owner
        self.path = path
    }

    /// - Throws: an error if a default value cannot be stored.
    func sources(
        of column: SlotColumn, _ attribute: AttributeLayout, schema: SQLSchema, mapping: EntityMapping
    ) throws -> [Source] {
        let defaults = defaultCondition(of: attribute)
        let absence = newPresence(of: attribute)
        let names = former.map { attribute.elementSources(in: $0.attribute) } ?? [:]
        var sources: [Source] = []
        for element in column.elements {
            let name = Self.name(of: element)
            guard let layout = attribute.elements.first(where: { $0.name == name }) else { continue }
            if element.isComposite {
                // JSON in a column of its own begins there.
                let inner = NestedColumns(
                    formerElement(of: layout, names), defaults, absence, formerPresence,
                    json == nil ? [] : path + [layout.nestedKey], columns)
                sources += try inner.sources(of: element, layout, schema: schema, mapping: mapping)
                continue
            }
            let fallback = try defaultValue(layout, element, schema, mapping).map { value in
                defaults.map { ColumnConversion.value(value, where: $0) } ?? value
            }
            if let json {
                let value = MovedValue.computed(columns.nested(json.name, path + [layout.nestedKey], layout))
                let isMandatory = !layout.description.isOptional
                sources.append(Source(column: element.name, value: value.orElse(isMandatory ? fallback : nil)))
            } else if let former = formerElement(of: layout, names), !former.column.isComposite {
                let isMandatory = !layout.description.isOptional
                let isNew = absence != nil || former.attribute.description.isOptional
                var value = columns.moved(
                    former.column, former.attribute, to: element, layout,
                    fallback: isMandatory && isNew ? fallback : nil)
                if !isMandatory, let absence, let fallback { value = value.replaced(by: fallback, where: absence) }
                sources.append(Source(column: element.name, value: value, source: former.column.name))
            } else if layout.isPresenceMark, former?.attribute.isAlwaysPresent ?? false {
                // A value that was required had no mark, and existed even without values.
                let mark = try columns.literal(.integer(1), element, layout, mapping, schema)
                let value = formerPresence.map { ColumnConversion.value(mark, where: $0) } ?? mark
                sources.append(Source(column: element.name, value: .computed(value)))
            } else {
                sources.append(Source(column: element.name, value: fallback.map { .computed($0) } ?? .nothing))
            }
        }
        return sources
    }

    /// The binary column that stored the value as JSON.
    private var json: SlotColumn? {
        guard let former, !former.column.isComposite, former.attribute.type == .binaryDataAttributeType else {
            return nil
        }
        return former.column
    }

    private func formerElement(
        of layout: AttributeLayout, _ names: [String: String]
    ) -> (column: SlotColumn, attribute: AttributeLayout)? {
        guard let former else { return nil }
        // The JSON of the whole value contains the JSON of its parts.
        if json != nil { return former }
        guard let name = names[layout.name],
            let attribute = former.attribute.elements.first(where: { $0.name == name }),
            let column = former.column.elements.first(where: { Self.name(of: $0) == name })
        else { return nil }
        return (column, attribute)
    }

    /// The condition on rows that have the composite's value. An optional value exists if any part of it does.
    private func defaultCondition(of attribute: AttributeLayout) -> SQLFragment? {
        guard !attribute.isAlwaysPresent, former != nil || !attribute.isPresentInitially else { return condition }
        if let json { return columns.nestedIsPresent(json.name, path) }
        guard let former, former.column.isComposite else { return ColumnConversion.isAnyPresent([]) }
        return ColumnConversion.isAnyPresent(former.column.flattened.map(\.name))
    }

    /// The condition on rows in which the former composite had a value; nil for all rows.
    private var formerPresence: SQLFragment? {
        guard let former, former.column.isComposite, !former.attribute.isAlwaysPresent else { return owner }
        return ColumnConversion.isAnyPresent(former.column.flattened.map(\.name))
    }

    /// The condition on rows whose composite had no value, and has one now: an optional value that became required, and
    /// what is always in such a value. All parts then get their default values.
    private func newPresence(of attribute: AttributeLayout) -> SQLFragment? {
        guard attribute.isAlwaysPresent, let former, former.column.isComposite else { return nil }
        guard !former.attribute.isAlwaysPresent else { return absence }
        return "NOT \(ColumnConversion.isAnyPresent(former.column.flattened.map(\.name)))"
    }

    private func defaultValue(
        _ layout: AttributeLayout, _ column: SlotColumn, _ schema: SQLSchema, _ mapping: EntityMapping
    ) throws -> SQLFragment? {
        let value = StoredValue(layout.description.defaultValue, for: layout)
        guard !value.isNull else { return nil }
        return try columns.literal(value, column, layout, mapping, schema)
    }

    /// An element's name, the last part of its column's path.
    static func name(of column: SlotColumn) -> String { String(column.property.split(separator: ".").last ?? "") }
}
