import CoreDataModel
import StoreEngine

extension Session {
    /// Fetches in every way that there is, which must all find the same.
    func fetch(_ step: FetchStep) throws -> Outcome {
        let plan = try plan(step)
        let rows: ContiguousArray<Row>
        do { rows = try engine.fetchRows(plan) } catch {
            // What is refused is refused in every way.
            if (try? engine.fetchIdentifiers(plan)) != nil || (try? engine.fetchCount(plan)) != nil {
                throw Contradiction("rows are refused, IDs or their count are not: \(error)")
            }
            throw error
        }
        let found = rows.map { number($0.objectID) }
        for (row, number) in zip(rows, found) {
            guard let object = graph.objects[number], object.entity === row.objectID.layout,
                object.version == row.version, object.values == plain(row)
            else {
                throw Contradiction(
                    "\(number) is fetched as \(row), and was \(String(describing: graph.objects[number]))")
            }
        }
        let isOrdered = !step.order.isEmpty
        func expect(_ other: [Int], _ way: String) throws {
            guard isOrdered ? other == found : other.sorted() == found.sorted() else {
                throw Contradiction("rows are \(found), \(way) \(other)")
            }
        }
        try expect(engine.fetchIdentifiers(plan).map(number), "IDs")
        guard try engine.fetchCount(plan) == found.count else {
            throw Contradiction("\(found.count) rows, counted \(try engine.fetchCount(plan))")
        }
        var read: [Int] = []
        try engine.readRows(plan) { read.append(number($0.identity.objectID)) }
        try expect(read, "rows one by one")
        let slot = plan.entity.numberSlot
        var current: [Int] = []
        var failure: (any Error)?
        try engine.forEachRow(plan) { row in
            do {
                guard case .integer(let number) = try row.value(at: slot) else { return true }
                current.append(Int(number))
            } catch { failure = error }
            return true
        }
        if let failure { throw failure }
        try expect(current, "current rows")
        // What is done with one portion may read, the same rows included.
        let (portions, others) = (try engine.portions(plan), try engine.portions(plan))
        var (inPortions, inOthers): ([Int], [Int]) = ([], [])
        while true {
            let portion = try portions.next(3)
            if portion.isEmpty { break }
            inPortions += portion.map { number($0.objectID) }
            inOthers += try others.next(2).map { number($0.objectID) }
            _ = try engine.fetchCount(plan)
        }
        inOthers += try others.next(.max).map { number($0.objectID) }
        try expect(inPortions, "portions")
        try expect(inOthers, "portions beside them")
        try expectRows(of: rows)
        return .found(isOrdered ? found : found.sorted())
    }

    /// Rows that are asked for by ID are those that were fetched.
    private func expectRows(of rows: ContiguousArray<Row>) throws {
        let again = try engine.rows(for: rows.map(\.objectID))
        guard again.map({ number($0.objectID) }) == rows.map({ number($0.objectID) }),
            zip(again, rows).allSatisfy({ $0.version == $1.version && $0.values == $1.values })
        else { throw Contradiction("rows by ID are \(again), fetched \(rows)") }
        guard let first = rows.first else { return }
        guard let alone = try engine.row(for: first.objectID), alone.values == first.values else {
            throw Contradiction("the row of \(first.objectID) is not the one that was fetched")
        }
    }

    func dictionaries(_ step: DictionaryStep) throws -> Outcome {
        var plan = try plan(step.fetch)
        plan.columns = try step.columns.map { column in
            switch column {
            case .keyPath(let keyPath): return .keyPath(keyPath)
            case .computed(let name, let function, let keyPath):
                guard let function = BuiltInFunction(rawValue: function) else {
                    throw Contradiction("there is no function \(function)")
                }
                let keys = keyPath.split(separator: ".").map(String.init)
                let expression = makeExpression(.function(function, [.keyPath(keys)]))
                return .expression(name: name, expression, .undefinedAttributeType)
            }
        }
        plan.groupBy = step.groupBy
        plan.having = try step.having.map(predicate)
        plan.isDistinct = step.isDistinct
        let found = try engine.fetchDictionaries(plan).map { $0.mapValues(plainValue) }
        if !step.fetch.order.isEmpty { return .dictionaries(found) }
        let texts = found.map { dictionary in
            dictionary.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.format)" }.joined(separator: ",")
        }
        return .dictionaries(zip(texts, found).sorted { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) }.map(\.1))
    }

    /// A value as it is compared: an object as its number, zero without a sign.
    private func plainValue(_ any: Any) -> Value {
        if case .double(0) = Value(any) { return .double(0) }
        guard case .object(let reference) = Value(any) else { return Value(any) }
        let identifier = any as? NSManagedObjectID ?? reference.operand.operandIdentity as? NSManagedObjectID
        return identifier.map { .integer(Int64(number($0))) } ?? Value(any)
    }

    func expression(_ format: String) throws -> NSExpression {
        guard let predicate = try NSPredicate(parsing: "\(format) == 0") as? NSComparisonPredicate else {
            throw Contradiction("“\(format)” is not an expression")
        }
        return predicate.leftExpression
    }
}
