import CoreData

/// One predicate and sort order, run as SQL and in memory.
struct AgreementCase {
    let entity: NSEntityDescription
    let tree: PredicateTree
    let sorting: [NSSortDescriptor]

    enum Outcome {
        case same(count: Int)
        case refused(String)
        case different(String)
    }

    /// - Returns: of a predicate on which SQL and memory differ, the smallest part on which they do.
    func run(_ context: NSManagedObjectContext, all: [NSManagedObject]) throws -> Outcome {
        let outcome = try runWhole(context, all: all)
        guard case .different = outcome else { return outcome }
        for part in tree.directParts {
            let smaller = try AgreementCase(entity: entity, tree: part, sorting: sorting).run(context, all: all)
            if case .different = smaller { return smaller }
        }
        return outcome
    }

    private func runWhole(_ context: NSManagedObjectContext, all: [NSManagedObject]) throws -> Outcome {
        let predicate = try predicate()
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
        request.predicate = predicate
        request.sortDescriptors = sorting
        let found: [NSManagedObject]
        do {
            found = try context.fetch(request)
        } catch {
            return .refused(error.localizedDescription)
        }
        let expected = Set(all.filter { predicate.evaluate(with: $0) })
        let differing = Set(found).symmetricDifference(expected)
        if let first = differing.first {
            let side = found.contains(first) ? "only in SQL" : "only in memory"
            return .different("\(tree.format): \(differing.count) differ, \(side): \(details(first))")
        }
        if found.count != expected.count { return .different("\(tree.format): an object was found twice") }
        if try context.count(for: request) != found.count { return .different("\(tree.format): counts differ") }
        if let pair = disorder(found) { return .different("sorted by \(sorting): \(pair)") }
        return .same(count: found.count)
    }

    /// The predicate from a format string, with its constants as arguments: as a program makes it.
    private func predicate() throws -> NSPredicate {
        var arguments: [Any?] = []
        let skeleton = tree.mapExpressions { expression in
            guard case .constant(let value) = expression else { return expression }
            arguments.append(value.any)
            return .argument(arguments.count - 1)
        }
        return try NSPredicate(parsing: skeleton.format, arguments: arguments)
    }

    /// Two neighbours that are in the wrong order; objects that are equal in it may come either way.
    private func disorder(_ objects: [NSManagedObject]) -> String? {
        for (first, second) in zip(objects, objects.dropFirst()) {
            let order = sorting.lazy.map { $0.compare(first, to: second) }.first { $0 != .orderedSame }
            if order == .orderedDescending { return "\(describe(first)) before \(describe(second))" }
        }
        return nil
    }

    /// What the predicate's keys lead to from an object.
    private func details(_ object: NSManagedObject) -> String {
        var keys: [[String]] = []
        tree.forEachComparison { comparison in
            for side in [comparison.left, comparison.right] {
                side.forEach { if case .keyPath(let path) = $0 { keys.append(path) } }
            }
        }
        return keys.map { "\($0.joined(separator: ".")) = \(Value.object(object).value(forKeyPath: $0).format)" }
            .joined(separator: ", ")
    }

    private func describe(_ object: NSManagedObject) -> String {
        let values = object.entity.attributesByName.keys.sorted().compactMap { key in
            object.value(forKey: key).map { "\(key)=\(String(reflecting: $0))" }
        }
        return "\(object.entity.name ?? "") \(values)"
    }
}

extension PredicateTree {
    fileprivate var directParts: [PredicateTree] {
        switch self {
        case .constant, .comparison: []
        case .and(let parts), .or(let parts): parts
        case .not(let part): [part]
        }
    }
}
