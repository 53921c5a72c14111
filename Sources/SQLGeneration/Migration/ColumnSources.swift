import CoreDataModel
import Foundation
import MigrationPlans

/// The sources of the columns of one entity's rows.
package struct ColumnSources {
    /// The value of each destination column that the entity's rows use.
    package private(set) var values: [String: MovedValue] = [:]
    /// The destination columns with a value of their own in the source, which must not be lost.
    package private(set) var sourceColumns: [String: String] = [:]

    private let pair: SchemaPair
    private let mapping: EntityMapping
    private let former: EntityMapping
    private let plan: EntityMappingPlan

    /// - Throws: an error if a default value cannot be stored.
    package init(_ mapping: EntityMapping, from former: EntityMapping, plan: EntityMappingPlan, in pair: SchemaPair)
        throws
    {
        self.pair = pair
        self.mapping = mapping
        self.former = former
        self.plan = plan
        for (slot, column) in zip(mapping.layout.slots, mapping.columns) {
            guard let column else { continue }
            switch slot.kind {
            case .attribute(let attribute): try add(attribute, column, slot: slot)
            case .toOne(let relationship): add(relationship, column)
            }
        }
        for owner in mapping.owners { add(owner) }
        separateFiles()
    }

    /// Keeps the file of a large value for one of the columns that take it, and gives the others its content: the file
    /// is removed when its column gets another value.
    private mutating func separateFiles() {
        let takers = mapping.columns.flatMap { $0?.flattened ?? [] }.filter(\.storage.allowsExternal).map(\.name)
        let sources = Dictionary(grouping: takers.filter { sourceColumns[$0] != nil }) { sourceColumns[$0] }
        for (source, takers) in sources where takers.count > 1 {
            let owner = takers.first { $0 == source } ?? takers.first
            for taker in takers where taker != owner { values[taker] = values[taker]?.inlined }
        }
    }

    /// Whether the rows keep an attribute's values, under the same name.
    fileprivate func keepValues(of attribute: String) -> Bool {
        guard plan.source(of: attribute) == attribute, let column = mapping.column(named: attribute),
            let source = former.column(named: attribute)
        else { return false }
        return zip(column.flattened, source.flattened).allSatisfy { values[$0.name] == .column($1.name) }
    }

    // MARK: Attributes

    private mutating func add(_ attribute: AttributeLayout, _ column: SlotColumn, slot: SlotLayout) throws {
        let sourceSlot = plan.source(of: slot.name).flatMap { former.layout.slotIndex(forName: $0) }
        let sourceAttribute = sourceSlot.flatMap { former.layout.slots[$0].attribute }
        let sourceColumn = sourceSlot.flatMap { former.columns[$0] }
        if column.isComposite {
            let nested = NestedColumns(sourceColumn, sourceAttribute, pair.columns)
            for element in try nested.sources(of: column, attribute, schema: pair.destination, mapping: mapping) {
                values[element.column] = element.value
                sourceColumns[element.column] = element.source
            }
            return
        }
        let defaultValue = try pair.defaultValue(slot, column, mapping)
        guard let sourceSlot, let sourceAttribute, let sourceColumn, !sourceColumn.isComposite else {
            let mark = sourceSlot == nil ? try listMark(attribute, column) : nil
            values[column.name] = (mark ?? defaultValue).map { .computed($0) } ?? .nothing
            return
        }
        let isNewlyMandatory = !slot.isOptional && former.layout.slots[sourceSlot].isOptional
        values[column.name] = pair.columns.moved(
            sourceColumn, sourceAttribute, to: column, attribute, fallback: isNewlyMandatory ? defaultValue : nil)
        sourceColumns[column.name] = sourceColumn.name
    }

    /// The new mark of a list that was there without one, since it was required.
    private func listMark(_ attribute: AttributeLayout, _ column: SlotColumn) throws -> SQLFragment? {
        guard let list = attribute.markedList, let source = plan.source(of: list),
            former.layout.relationship(named: source)?.isToMany ?? false
        else { return nil }
        return try pair.columns.literal(.integer(1), column, attribute, mapping, pair.destination)
    }

    // MARK: To-one relationships

    private mutating func add(_ relationship: RelationshipLayout, _ column: SlotColumn) {
        let sourceSlot = plan.source(of: relationship.name).flatMap { former.layout.slotIndex(forName: $0) }
        guard let sourceSlot, let source = former.layout.slots[sourceSlot].relationship,
            let sourceColumn = former.columns[sourceSlot]
        else {
            for name in [column.name, column.entityColumn, column.orderColumn].compactMap({ $0 }) {
                values[name] = .nothing
            }
            return
        }
        let targets = pair.targets(source)
        let (kept, areAllKept) = (targets.kept, targets.areAllKept)
        let entity = sourceColumn.entityColumn.map { "\(name: $0)" as SQLFragment }
        if areAllKept {
            values[column.name] = .column(sourceColumn.name)
        } else if let entity, !kept.isEmpty {
            // Objects of a removed entity are deleted, and so are references to them.
            values[column.name] = .computed(
                ColumnConversion.value("\(name: sourceColumn.name)", where: kept.arePresent(in: entity)))
        } else {
            values[column.name] = .nothing
        }
        sourceColumns[column.name] = sourceColumn.name
        if let name = column.entityColumn {
            if let former = sourceColumn.entityColumn, areAllKept, kept.changing.isEmpty {
                values[name] = .column(former)
                sourceColumns[name] = former
            } else if let entity {
                values[name] = .computed(areAllKept ? kept.renumbered(entity) : kept.renumberedOrNothing(entity))
                sourceColumns[name] = sourceColumn.entityColumn
            } else {
                values[name] =
                    kept.pairs.first.map {
                        .computed(ColumnConversion.value("\(number: $0.new)", wherePresent: sourceColumn.name))
                    } ?? .nothing
            }
        }
        if let name = column.orderColumn {
            values[name] = sourceColumn.orderColumn.map { .column($0) } ?? .nothing
            if let former = sourceColumn.orderColumn { sourceColumns[name] = former }
        }
    }

    // MARK: Owners

    /// Adds the column for the owner by a relationship without inverse. It stays if the rows had one. Otherwise it is
    /// filled from the relationship's former data, once all rows exist.
    private mutating func add(_ owner: OwnerColumn) {
        for name in owner.columns { values[name] = .nothing }
        let keys = pair.formerKeys(owner).filter { $0.table == former.table }
        guard keys.count == 1, let key = pair.formerKey(owner) else {
            // The column must not be emptied before it is read.
            if let other = keys.first(where: { $0.column != owner.name }) { sourceColumns[owner.name] = other.column }
            return
        }
        values[owner.name] = .column(key.column)
        sourceColumns[owner.name] = key.column
        if let name = owner.orderColumn, let order = key.orderColumn {
            values[name] = .column(order)
            sourceColumns[name] = order
        }
    }
}

extension SchemaPair {
    /// Whether all rows of an entity and its subentities keep an attribute's values, under the same name.
    ///
    /// - Parameters:
    ///   - attribute: the attribute.
    ///   - mapping: the entity.
    ///   - sources: the sources of the columns of the entities that are not new, by name.
    /// - Returns: `false` if some rows get other values.
    package func keepsValues(
        of attribute: String, _ mapping: EntityMapping, by sources: [String: ColumnSources]
    ) -> Bool {
        mapping.layout.selfAndSubentities.allSatisfy { sources[$0.name]?.keepValues(of: attribute) ?? true }
    }

    /// An attribute's default value; `nil` if it has none.
    package func defaultValue(
        _ slot: SlotLayout, _ column: SlotColumn, _ mapping: EntityMapping
    ) throws -> SQLFragment? {
        guard !slot.defaultValue.isNull, !column.isDerived else { return nil }
        return try columns.literal(slot.defaultValue, column, slot.attribute, mapping, destination)
    }

    /// The column of a relationship without inverse in its destinations' table; nil if there was none, or several.
    func formerKey(_ owner: OwnerColumn) -> ForeignKeyMapping? {
        formers(owner.relationship).count == 1 ? formerKeys(owner).first : nil
    }

    /// The columns in its destinations' table of the relationships that became one without inverse.
    fileprivate func formerKeys(_ owner: OwnerColumn) -> [ForeignKeyMapping] {
        formers(owner.relationship).compactMap { former in
            guard former.layout.isToMany, let mapping = source.mapping(of: former.layout.source),
                case .foreignKey(let key)? = mapping.toManys[former.layout.index]
            else { return nil }
            return key
        }
    }
}

/// Rows that one statement moves from one table to another.
package struct RowMove {
    package let sourceTable: String
    /// The entities of the rows: their numbers before and after.
    package var numbers: EntityNumbers
    /// The value of each destination column.
    package var values: [String: MovedValue]
    /// The source columns that the entities' rows use.
    private var used: Set<String>

    package init(_ mapping: EntityMapping, from former: EntityMapping, _ sources: ColumnSources) {
        sourceTable = former.table
        numbers = EntityNumbers([.init(old: former.number, new: mapping.number)])
        values = sources.values
        used = Set(former.allColumns)
    }

    /// Adds the rows of another entity if one statement can move both.
    ///
    /// A column that only one of them has may be copied for both, if it is copied unchanged and empty in the other's
    /// rows.
    private mutating func absorb(_ other: RowMove) -> Bool {
        guard sourceTable == other.sourceTable else { return false }
        func fits(_ first: RowMove, _ second: RowMove) -> Bool {
            first.values.allSatisfy { column, value in
                guard let known = second.values[column] else {
                    switch value {
                    case .nothing: return true
                    case .column(let name): return !second.used.contains(name) && first.used.contains(name)
                    case .computed: return false
                    }
                }
                return known == value
            }
        }
        guard fits(self, other), fits(other, self) else { return false }
        values.merge(other.values) { first, _ in first }
        numbers.pairs += other.numbers.pairs
        used.formUnion(other.used)
        return true
    }

    /// Combines moves into as few as possible.
    package static func merged(_ moves: [RowMove]) -> [RowMove] {
        var result: [RowMove] = []
        for move in moves {
            var isAbsorbed = false
            for index in result.indices where !isAbsorbed { isAbsorbed = result[index].absorb(move) }
            if !isAbsorbed { result.append(move) }
        }
        return result
    }

    /// `INSERT INTO ZCAR (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT Z_PK, 3, Z_OPT, ZNAME FROM _T_ZCAR WHERE Z_ENT = 2`
    ///
    /// - Parameters:
    ///   - table: the destination's table.
    ///   - columns: the columns of the destination table, in order.
    ///   - source: the table with the rows.
    ///   - extra: columns that the model does not know, which stay.
    /// - Returns: the statement.
    package func insertion(into table: String, columns: [String], from source: String, extra: [String]) -> SQLFragment {
        let present = columns.compactMap { column in values[column].map { (column: column, value: $0) } }
        return RowMoveSQL.insertion(into: table, from: source, numbers: numbers, values: present, extra: extra)
    }

    /// `UPDATE ZCAR SET ZWHEELS = 4 WHERE Z_ENT = 2`; `nil` if the rows need no change.
    package func update(of table: String, newColumns: Set<String>) -> SQLFragment? {
        let changes = values.sorted { $0.key < $1.key }.filter { column, value in
            value != .column(column) && !(newColumns.contains(column) && value == .nothing)
        }
        guard !changes.isEmpty else { return nil }
        return RowMoveSQL.update(table, numbers: numbers, values: changes.map { (column: $0.key, value: $0.value) })
    }
}
