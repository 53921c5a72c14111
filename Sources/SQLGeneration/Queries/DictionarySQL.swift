import CoreDataModel
import StoreEngine

/// One value of a dictionary fetch, and its position in the result.
package struct DictionaryColumn: Sendable {
    package let name: String
    /// The index of the value's column; -1 for a composite attribute.
    package let index: Int
    package let storage: ColumnStorage?
    /// The destination of a to-one relationship.
    package var destination: EntityLayout?
    /// The index of the column with the number of the destination's actual entity, which may be a subentity.
    package var entityIndex: Int?
    /// The attribute that the value comes from.
    package var attribute: AttributeLayout?
    /// The declared type of a computed value.
    package var declaredType: NSAttributeType?
    /// The elements of a composite attribute.
    package var elements: [DictionaryColumn] = []
}

extension PredicateSQL {
    /// The columns of a dictionary fetch.
    ///
    /// - Parameters:
    ///   - plan: the fetch.
    ///   - ofDictionaries: whether the columns are made into dictionaries: then composite attributes are selected by
    ///     element, and the numbers of the objects' entities follow the values.
    ///   - scope: the rows.
    /// - Returns: the selection, how to read it, and the columns with the entities' numbers, by which a dialect may
    ///   have to group.
    /// - Throws: an `NSError` that names what SQL cannot express.
    func columns(
        _ plan: FetchPlan, ofDictionaries: Bool, in scope: SQLScope
    ) throws -> (selection: SQLFragment, columns: [DictionaryColumn], entities: [SQLFragment]) {
        var fragments: [SQLFragment] = []
        var columns: [DictionaryColumn] = []
        var wanted = plan.columns
        if wanted.isEmpty {
            wanted = plan.entity.slots.filter { !$0.isTransient }.map { .keyPath($0.name) }
        }
        for column in wanted {
            switch column {
            case .keyPath(let path):
                let keys = path.split(separator: ".").map(String.init)
                if ofDictionaries, case .composite(let alias, let composite) = try scope.resolve(keys, schema: schema) {
                    let attribute = scope.mapping.layout.attribute(at: keys)
                    columns.append(Self.column(path, composite, attribute, alias: alias, &fragments))
                } else {
                    let operand = try operand(.keyPath(keys), in: scope)
                    columns.append(dictionaryColumn(path, keys, operand, index: fragments.count, in: scope))
                    fragments.append(operand.fragment)
                }
            case .expression(let name, let expression, let type):
                let tree = expressionTree(of: expression)
                let operand = try operand(tree, in: scope)
                columns.append(
                    DictionaryColumn(
                        name: name, index: fragments.count, storage: operand.storage,
                        destination: tree == .evaluatedObject ? plan.entity : operand.root,
                        attribute: attribute(of: tree, operand.storage, in: scope),
                        declaredType: type == .undefinedAttributeType ? nil : type))
                fragments.append(operand.fragment)
            }
        }
        let values = fragments.count
        // The entities of the objects follow the values.
        for index in columns.indices where ofDictionaries && columns[index].destination != nil {
            let keys: [String]
            switch wanted[index] {
            case .keyPath(let path): keys = path.split(separator: ".").map(String.init)
            case .expression(_, let expression, _):
                switch expressionTree(of: expression) {
                case .keyPath(let path): keys = path
                case .evaluatedObject: keys = []
                default: continue
                }
            }
            guard let entity = try entityColumn(keys, in: scope) else { continue }
            columns[index].entityIndex = fragments.count
            fragments.append(entity)
        }
        return (.list(fragments), columns, Array(fragments[values...]))
    }

    /// The attribute that an expression names, if its column holds something else than its values: archives, or names
    /// of files.
    private func attribute(
        of tree: ExpressionTree, _ storage: ColumnStorage?, in scope: SQLScope
    ) -> AttributeLayout? {
        guard case .keyPath(let keys) = tree else { return nil }
        switch storage {
        case .transformable, .data(allowsExternal: true): return scope.mapping.layout.attribute(at: keys)
        default: return nil
        }
    }

    /// A composite attribute or element, with a column for each value in it.
    private static func column(
        _ name: String, _ column: SlotColumn, _ attribute: AttributeLayout?, alias: String,
        _ fragments: inout [SQLFragment]
    ) -> DictionaryColumn {
        guard column.isComposite else {
            fragments.append("\(SQLColumn(column.name, of: alias))")
            return DictionaryColumn(
                name: name, index: fragments.count - 1, storage: column.storage, attribute: attribute)
        }
        var composite = DictionaryColumn(name: name, index: -1, storage: nil, attribute: attribute)
        for element in column.elements {
            let name = element.property.split(separator: ".").last.map(String.init) ?? ""
            let layout = attribute?.elements.first { $0.name == name }
            composite.elements.append(Self.column(name, element, layout, alias: alias, &fragments))
        }
        return composite
    }

    /// The column with the entity of the object that the keys lead to; nil if only one entity is possible.
    private func entityColumn(_ keys: [String], in scope: SQLScope) throws -> SQLFragment? {
        switch try scope.resolve(keys, schema: schema) {
        case .column(let alias, let column): column.entity(of: alias)
        case .object(let alias, let mapping): mapping.sharesTable ? "\(.entity, of: alias)" : nil
        case .composite, .entity, .toMany: nil
        }
    }

    private func dictionaryColumn(
        _ name: String, _ keys: [String], _ operand: SQLOperand, index: Int, in scope: SQLScope
    ) -> DictionaryColumn {
        var entity = scope.mapping.layout
        for key in keys {
            guard let slot = entity.slotIndex(forName: key) else { break }
            if let relationship = entity.slots[slot].relationship { entity = relationship.destination }
        }
        return DictionaryColumn(
            name: name, index: index, storage: operand.storage, destination: operand.root == nil ? nil : entity,
            attribute: scope.mapping.layout.attribute(at: keys))
    }
}
