import StoreSession

// What a graph knows of its nodes.
extension ModelGraph {
    /// The node of a model; nil for one that is not among them.
    func node(_ key: RecordKey, of plan: EntityPlan) -> Int? {
        tableNumbers[plan.id].flatMap { tables[$0].nodes.place(of: key) }
    }

    /// Refuses identifiers that a store which rounds dates to microseconds would take for one.
    ///
    /// - Throws: ``PersistenceError/Code/unwritable``
    func checkRoundedDates() throws {
        for table in tables {
            guard let (one, other) = table.nodes.closeDates else { continue }
            let numbers = [one, other].map { "\($0.timeIntervalSinceReferenceDate)" }.joined(separator: " and ")
            throw PersistenceError.unwritable(
                entity: table.plan.name, uid: "\(other)", key: table.plan.uidKey,
                reason:
                    "the save has two of them within one microsecond (\(numbers) seconds since 2001), and the server rounds dates to "
                    + "microseconds, so that both would be one. Round the dates, or take identifiers of another kind.")
        }
    }

    /// How many entities there are.
    var tableCount: Int { tables.count }

    /// The number of an entity; nil for one that has no nodes.
    func tableNumber(of plan: EntityPlan) -> Int? { tableNumbers[plan.id] }

    /// The value of a node's field.
    @inline(__always)
    func value(_ node: Int, _ field: Int) -> StoredValue { values[nodes[node].table][nodes[node].row + field] }

    /// The identifier of a node as a row has it; nil for a reference whose key does not hold it.
    func storedIdentifier(_ node: Int, _ plan: EntityPlan) -> StoredValue? {
        if nodes[node].row >= 0 { return value(node, plan.uidField) }
        return StoredValue(nodes[node].key, of: plan.record.attributeKinds[plan.uidField])
    }

    /// Whether all nodes of an entity have values in some fields. References, which have no values, do not count.
    ///
    /// - Parameters:
    ///   - fields: the fields.
    ///   - table: the number of the entity.
    ///   - isLeftOut: which other nodes do not count.
    /// - Returns: whether none of the values is missing.
    func hasValues(in fields: [Int], ofTable table: Int, except isLeftOut: (_ node: Int) -> Bool) -> Bool {
        let values = values[table]
        return nodes.indices.allSatisfy { node in
            let first = nodes[node].row
            guard nodes[node].table == table, first >= 0, !isLeftOut(node) else { return true }
            return fields.allSatisfy { !values[first + $0].isNull }
        }
    }

    /// The values of all nodes of a node's entity, and the index at which the node's own begin.
    @inline(__always)
    func values(holding node: Int) -> (values: ValueRows, first: Int) {
        (values[nodes[node].table], nodes[node].row)
    }

    /// The values of a node, by field.
    func values(of node: Int) -> ContiguousArray<StoredValue> {
        let row = nodes[node].row
        return row < 0 ? [] : values[nodes[node].table][row..<row + nodes[node].plan.fields.count]
    }

    /// The nodes that a relationship of a node leads to.
    @inline(__always)
    func targets(of node: Int, _ field: Int) -> [Int] { nodes[node].links.first { $0.field == field }?.targets ?? [] }

    /// The identifier as its attribute holds it.
    func keyValue(of node: Int) -> Any? {
        if let known = rareKeys[node] { return known }
        let plan = nodes[node].plan
        guard let kind = plan.record.attributeKinds[plan.uidField] else { return nil }
        return storedIdentifier(node, plan)?.attributeValue(kind)
    }

    /// The first relationship that leads to a node, for a message; nil if there is none.
    func relationship(to node: Int) -> (entity: String, key: String)? {
        for source in nodes {
            guard let link = source.links.first(where: { $0.targets.contains(node) }) else { continue }
            return (source.plan.name, source.plan.fields[link.field].name)
        }
        return nil
    }
}
