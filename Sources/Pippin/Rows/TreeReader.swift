import StoreSession

/// Reads models with everything in them, with one statement for the models and one for each relationship. The models in
/// a model are read and finished before the model itself.
///
/// It handles types that do not lead back to themselves, and rows that can be decoded. `StructAssembler` handles
/// everything else, including errors, and gives the same values.
final class TreeReader {
    private let registry: ModelRegistry
    private let source: any SetRows

    init(registry: ModelRegistry, source: any SetRows) {
        self.registry = registry
        self.source = source
    }

    /// The models with one of some identifiers, in any order.
    func models<Model: CoreModel>(
        _ type: Model.Type, of plan: EntityPlan, withOneOf identifiers: [StoredValue], _ rows: StoreRows
    ) throws -> [Model] {
        var found = ContiguousArray<Row>()
        let slot = try rows.slots(of: plan)[plan.uidField]
        try rows.forEachRow(of: plan, where: slot, isAmong: identifiers) { found.append(try $0.whole()) }
        return try models(type, of: plan, found)
    }

    // MARK: Models

    /// The models of rows that have been read already, in order.
    func models<Model: CoreModel>(
        _ type: Model.Type, of plan: EntityPlan, _ rows: ContiguousArray<Row>
    ) throws -> [Model] {
        let members = TreeMembers(plan)
        for field in plan.relationships { members.byField[field] = try self.members(field, of: plan, rows) }
        let decoder = RowDecoder(plan.record, entity: plan.name, slots: try source.slots(of: plan), related: members)
        defer { decoder.finish() }
        var models = ModelBuffer<Model>()
        for (place, row) in rows.enumerated() {
            members.row = place
            models.append(try decoder.decode(type, from: row))
        }
        return models.take()
    }

    private func list(_ rows: ContiguousArray<Row>, of plan: EntityPlan) throws -> any MemberList {
        func list<Model: CoreModel>(_ type: Model.Type) throws -> any MemberList {
            FinishedModels(try models(type, of: plan, rows))
        }
        return try list(plan.type)
    }

    // MARK: Members

    private func members(_ field: Int, of plan: EntityPlan, _ rows: ContiguousArray<Row>) throws -> Members? {
        guard let related = plan.fields[field].related else { return nil }
        let destination = try registry.plan(related)
        if plan.fields[field].isToMany {
            return try toMany(plan.fields[field], of: plan, rows, destination, isReference: related.isReference)
        }
        return try toOne(
            try source.slots(of: plan)[field], rows, destination, isReference: related.isReference)
    }

    private func toMany(
        _ field: FieldPlan, of plan: EntityPlan, _ rows: ContiguousArray<Row>, _ destination: EntityPlan,
        isReference: Bool
    ) throws -> Members {
        var ranges = MemberRanges(count: rows.count)
        let identifiers = rows.map(\.objectID)
        let sink = try destination.memberSink(isReference: isReference, source: source)
        if let sink {
            try source.forEachDestination(of: field, of: plan, for: identifiers) { place, row in
                ranges.add(to: place)
                try sink.take(row)
            }
            return Members(ranges.byRow, of: sink.list())
        }
        // Rows that lead to others are read first, each once.
        var gathered = GatheredRows()
        try source.forEachDestination(of: field, of: plan, for: identifiers) { place, row in
            ranges.add(to: place)
            try gathered.take(row)
        }
        return Members(ranges.byRow, gathered.numbers, of: try list(gathered.rows, of: destination))
    }

    private func toOne(
        _ slot: Int, _ rows: ContiguousArray<Row>, _ destination: EntityPlan, isReference: Bool
    ) throws -> Members {
        var places: [NSManagedObjectID: Int] = [:]
        var identifiers: [NSManagedObjectID] = []
        var targets = ContiguousArray(repeating: -1, count: rows.count)
        for (row, place) in zip(rows, rows.indices) {
            guard case .identifier(let identifier) = row.values[slot] else { continue }
            let next = identifiers.count
            targets[place] = places[identifier, default: next]
            guard targets[place] == next else { continue }
            places[identifier] = next
            identifiers.append(identifier)
        }
        // A deleted row has no number.
        var found = ContiguousArray(repeating: -1, count: identifiers.count)
        var count = 0
        let list: any MemberList
        if let sink = try destination.memberSink(isReference: isReference, source: source) {
            try source.forEachRow(of: destination, for: identifiers) { place, row in
                found[place] = count
                count += 1
                try sink.take(row)
            }
            list = sink.list()
        } else {
            var rows = ContiguousArray<Row>()
            try source.forEachRow(of: destination, for: identifiers) { place, row in
                found[place] = rows.count
                rows.append(try row.whole())
            }
            list = try self.list(rows, of: destination)
        }
        var numbers = ContiguousArray<Int>()
        let ranges = ContiguousArray(
            targets.map { target -> Range<Int> in
                guard target >= 0, found[target] >= 0 else { return 0..<0 }
                numbers.append(found[target])
                return numbers.count - 1..<numbers.count
            })
        return Members(ranges, numbers, of: list)
    }
}

/// The members of each row, which are read row by row.
private struct MemberRanges {
    private(set) var byRow: ContiguousArray<Range<Int>>
    private var count = 0

    init(count: Int) { byRow = ContiguousArray(repeating: 0..<0, count: count) }

    /// Adds the next member to a row.
    mutating func add(to row: Int) {
        byRow[row] = (byRow[row].isEmpty ? count : byRow[row].lowerBound)..<(count + 1)
        count += 1
    }
}

/// Rows that several objects may lead to, each kept once.
private struct GatheredRows {
    private(set) var rows = ContiguousArray<Row>()
    /// The number of each row that was handed out.
    private(set) var numbers = ContiguousArray<Int>()
    private var known: [NSManagedObjectID: Int] = [:]

    mutating func take(_ current: any CurrentRow) throws {
        let row = try current.whole()
        let next = rows.count
        let number = known[row.objectID, default: next]
        numbers.append(number)
        guard number == next else { return }
        known[row.objectID] = next
        rows.append(row)
    }
}

/// Provides a row's decoder with the members of its model.
private final class TreeMembers: RelatedRows {
    private let plan: EntityPlan
    /// By field; nil for a field that is not a relationship.
    var byField: ContiguousArray<Members?>
    /// The row that is being decoded.
    var row = 0

    init(_ plan: EntityPlan) {
        self.plan = plan
        byField = ContiguousArray(repeating: nil, count: plan.fields.count)
    }

    func model<Value: Decodable>(_ type: Value.Type, _ field: Int, of decoder: RowDecoder) throws -> Value? {
        guard let members = byField[field], members.count(of: row) > 0 else { return nil }
        return try members.member(type, 0, of: row)
    }

    func models<Value: Decodable>(_ type: Value.Type, _ field: Int, of decoder: RowDecoder) throws -> Value? {
        guard let members = byField[field], let related = plan.fields[field].related else { return nil }
        let count = members.count(of: row)
        if count == 0, plan.fields[field].isOptional, try !decoder.isMarked(field) { return nil }
        if let array = members.array(of: row, as: type) { return array }
        return try Value(
            from: ModelsDecoder(RowMembers(members: members, row: row), count: count, of: related))
    }
}

/// The members of one row.
private struct RowMembers: MemberSource {
    let members: Members
    let row: Int

    func member<Value: Decodable>(_ type: Value.Type, _ place: Int) throws -> Value? {
        try members.member(type, place, of: row)
    }
}
