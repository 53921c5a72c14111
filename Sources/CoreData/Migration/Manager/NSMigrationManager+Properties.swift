import Foundation

// Sets the values of destination objects.
extension NSMigrationManager {
    /// Sets the attributes of a destination object by an entity mapping.
    func setAttributes(
        of destination: NSManagedObject, from source: NSManagedObject, mapping: NSEntityMapping,
        policy: NSEntityMigrationPolicy
    ) throws {
        let attributes = mapping.attributeMappings ?? []
        guard let run else {
            return try setProperties(attributes, of: destination, from: source, mapping: mapping, policy: policy)
        }
        let steps = run.attributeSteps(mapping, from: source.layout, to: destination.layout)
        if source.isFault { source.fireFault() }
        // The values of a new object without code of its own have no observers.
        let isQuiet = steps.isPlain && destination.state.contains(.insertedInEvent)
        for step in steps.steps {
            switch step {
            case .copy(let from, let to, let keepsDefault):
                let value = source.values[from]
                if keepsDefault, value.isNull { continue }
                if isQuiet { destination.values[to] = value } else { destination.setStoredValue(value, at: to) }
            case .convert(let conversion, let from, let to, let keepsDefault):
                let value = source.values[from]
                if keepsDefault, value.isNull { continue }
                destination.setStoredValue(conversion.converted(value), at: to)
            case .fill(let value, let to): destination.setStoredValue(value, at: to)
            case .evaluate(let property, let plain):
                if let plain, let value = steps.unreadValue(of: source, plain) {
                    destination.setStoredValue(value, at: plain.to)
                    continue
                }
                try setProperties([property], of: destination, from: source, mapping: mapping, policy: policy)
            }
        }
    }

    /// Sets the relationships of a destination object by an entity mapping.
    func setRelationships(
        of destination: NSManagedObject, from source: NSManagedObject?, mapping: NSEntityMapping,
        policy: NSEntityMigrationPolicy
    ) throws {
        let relationships = mapping.relationshipMappings ?? []
        guard let run, let source, source.managedObjectContext === run.source, !definesSuccessors else {
            return try setProperties(relationships, of: destination, from: source, mapping: mapping, policy: policy)
        }
        for step in run.relationshipSteps(mapping, from: source.layout).steps {
            switch step {
            case .evaluate(let property):
                try setProperties([property], of: destination, from: source, mapping: mapping, policy: policy)
            case .partners(let relationship, let successors, let property):
                guard let name = property.name else { continue }
                do {
                    var partners = try run.partners(of: source, relationship, successors)
                    if case .anyMapping = successors {
                        let fitting = Self.fitting(partners, name, of: destination)
                        try run.checkRoom(for: fitting, name, of: destination, from: source, relationship)
                        guard let joined = try run.joining(fitting, name, of: destination) else { continue }
                        partners = joined
                    }
                    // Connecting an object changes its partners, which must be loaded for that.
                    let loaded = try run.loadStrangers(among: partners, for: destination, name)
                    try withExtendedLifetime(loaded) { try set(partners, forKey: name, of: destination) }
                } catch { throw unset(name, mapping, error) }
            }
        }
    }

    /// Sets the properties of a destination object by the mappings' expressions; a property without an expression keeps
    /// its default.
    func setProperties(
        _ mappings: [NSPropertyMapping], of destination: NSManagedObject, from source: NSManagedObject?,
        mapping: NSEntityMapping, policy: NSEntityMigrationPolicy
    ) throws {
        for property in mappings {
            guard let name = property.name, let expression = property.valueExpression else { continue }
            let expressions = MigrationExpression(
                scope: MigrationScope(
                    manager: self, mapping: mapping, policy: policy, property: property, source: source,
                    destination: destination))
            let tree = expressionTree(of: expression)
            do {
                var value = try expressions.value(of: tree)
                if RelationshipSteps.takesAnyMapping(tree), let objects = Self.objects(in: value) {
                    let fitting = Self.fitting(objects, name, of: destination)
                    if let source, let key = RelationshipSteps.source(of: property)?.key,
                        let former = source.layout.relationship(named: key)
                    {
                        try run?.checkRoom(for: fitting, name, of: destination, from: source, former)
                    }
                    guard let joined = try run.map({ try $0.joining(fitting, name, of: destination) }) ?? fitting else {
                        continue
                    }
                    value = joined
                }
                if property.keepsDefault, value == nil || value is NSNull { continue }
                try set(value, forKey: name, of: destination)
            } catch { throw unset(name, mapping, error) }
        }
    }

    private func unset(_ property: String, _ mapping: NSEntityMapping, _ error: any Error) -> NSError {
        StoreError.make(
            CoreDataErrorCode.migration,
            "The entity mapping “\(mapping.name ?? "")” cannot set “\(mapping.destinationEntityName ?? "").\(property)”: "
                + (error as NSError).localizedDescription,
            suggestion: (error as NSError).localizedRecoverySuggestion, underlying: error,
            userInfo: ["entityMapping": mapping.name ?? "", "property": property])
    }

    /// The objects that a relationship may lead to: an object can become others, too, by further entity mappings.
    private static func fitting(
        _ objects: [NSManagedObject], _ key: String, of destination: NSManagedObject
    ) -> [NSManagedObject] {
        let property = destination.entity.propertiesByName[key] as? NSRelationshipDescription
        guard let target = property?.destinationEntity else { return objects }
        return objects.filter { $0.entity.isKindOf(entity: target) }
    }

    private func set(_ value: Any?, forKey key: String, of destination: NSManagedObject) throws {
        let value = value is NSNull ? nil : value
        guard let property = destination.entity.propertiesByName[key] else {
            throw MigrationExpression.error("entity “\(destination.entity.name ?? "")” has no such property")
        }
        guard let relationship = property as? NSRelationshipDescription else {
            let slot = destination.layout.slotIndex(forName: key)
            let attribute = slot.flatMap { destination.layout.slots[$0].attribute }
            destination.setValue(
                attribute.map { NumberConversion.converted(value, computedFor: $0) } ?? value, forKey: key)
            return
        }
        guard let objects = Self.objects(in: value) else {
            throw MigrationExpression.error("the value is not a managed object and no collection of them")
        }
        for object in objects where object.managedObjectContext !== destinationContext {
            throw MigrationExpression.error(
                "“\(object.entity.name ?? "")” is an object of the source store; take what it became, by "
                    + "FUNCTION($manager, \"\(MigrationFunction.destinationsOfMapping)\", …)")
        }
        if let target = relationship.destinationEntity,
            let stranger = objects.first(where: { !$0.entity.isKindOf(entity: target) })
        {
            throw MigrationExpression.error(
                "it holds “\(target.name ?? "")” objects, and the value has a “\(stranger.entity.name ?? "")”")
        }
        if !relationship.isToMany {
            destination.setValue(objects.first, forKey: key)
        } else if relationship.isOrdered {
            destination.setValue(NSOrderedSet(array: objects), forKey: key)
        } else {
            destination.setValue(NSSet(array: objects), forKey: key)
        }
    }

    // MARK: By name

    /// The functions that Xcode's mapping models call.
    func callOwnFunction(_ name: String, _ arguments: [Any?]) throws -> Any? {
        func text(_ index: Int) throws -> String {
            guard arguments.indices.contains(index), let text = arguments[index] as? String else {
                throw MigrationExpression.error("argument \(index + 1) of “\(name)” is not a string")
            }
            return text
        }
        func objects() throws -> [NSManagedObject]? {
            guard arguments.count > 1, let value = arguments[1] else { return [] }
            guard let objects = Self.objects(in: value) else {
                throw MigrationExpression.error(
                    "argument 2 of “\(name)” is not a managed object and no collection of them")
            }
            return objects
        }
        switch name {
        case MigrationFunction.destinationsOfMapping:
            return destinationInstances(forEntityMappingName: try text(0), sourceInstances: try objects())
        case MigrationFunction.sourcesOfMapping:
            return sourceInstances(forEntityMappingName: try text(0), destinationInstances: try objects())
        case MigrationFunction.destinationsOfRelationship:
            return try (objects() ?? []).flatMap(successors)
        case MigrationFunction.fetchRequest:
            return try fetchRequest(entity: text(0), predicate: text(1), includesSubentities: false)
        case MigrationFunction.fetchRequestWithSubentities:
            let includes = arguments.count > 2 ? (arguments[2] as? NSNumber)?.boolValue ?? false : false
            return try fetchRequest(entity: text(0), predicate: text(1), includesSubentities: includes)
        default:
            if arguments.isEmpty, Self.keys[name] != nil { return try expressionValue(forKey: name) }
            throw MigrationExpression.error(
                "the migration manager has no function “\(name)”; a subclass may answer it in callFunction(_:arguments:)"
            )
        }
    }

    /// The destination objects of an object, by any entity mapping that may have taken it.
    private func successors(of object: NSManagedObject) -> [NSManagedObject] {
        (run?.mappingNames(taking: object.layout) ?? []).flatMap {
            destinationInstances(forEntityMappingName: $0, sourceInstances: [object])
        }
    }

    /// A request for source objects of an entity.
    func fetchRequest(
        entity: String, predicate: String?, includesSubentities: Bool
    ) throws -> NSFetchRequest<NSManagedObject> {
        guard sourceModel.entitiesByName[entity] != nil else {
            throw MigrationExpression.error(
                "the source model has no entity “\(entity)”; it has \(sourceModel.entitiesByName.keys.sorted().joined(separator: ", "))"
            )
        }
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.includesSubentities = includesSubentities
        request.predicate = try predicate.map { makePredicate(try predicateTree(parsing: $0)) }
        return request
    }

    /// The managed objects in a value; `nil` if the value is missing or contains anything else.
    static func objects(in value: Any?) -> [NSManagedObject]? {
        if let object = value as? NSManagedObject { return [object] }
        return NSManagedObject.objects(in: value)
    }
}

// The three stages of a migration.
extension NSMigrationManager {
    func migrate(_ run: MigrationRun) throws {
        try make(run)
        try connect(run)
        try perform(2, run) { mapping, policy in
            try policy.performCustomValidation(forMapping: mapping, manager: self)
            try policy.end(mapping, manager: self)
        }
        try checkCancellation()
        run.current = nil
        try run.portions.finish()
        guard willMigrate != nil else { return }
        run.associations.settle()
        keyPairs = run.entityMappings.flatMap { run.associations.keyPairs(mapping: $0.name ?? "") }
    }

    private func perform(
        _ stage: Int, _ run: MigrationRun, _ body: (NSEntityMapping, NSEntityMigrationPolicy) throws -> Void
    ) throws {
        let mappings = Array(zip(run.entityMappings, run.policies))
        for (index, (mapping, policy)) in mappings.enumerated() {
            try checkCancellation()
            run.current = mapping
            run.step = (stage * mappings.count + index, of: mappings.count * 3)
            try body(mapping, policy)
            noteProgress(run, 1)
        }
    }

    /// Reports the progress of the migration.
    ///
    /// - Parameters:
    ///   - run: the migration that is running.
    ///   - part: how much of the entity mapping's stage is done, from 0 to 1.
    func noteProgress(_ run: MigrationRun, _ part: Float) {
        setProgress((Float(run.step.number) + min(part, 1)) / Float(run.step.of) * 0.99)
    }

    /// Makes the objects.
    private func make(_ run: MigrationRun) throws {
        try perform(0, run) { mapping, policy in
            try policy.begin(mapping, with: self)
            try forEachPortion(ofSourcesIn: mapping, policy: policy, run) { sources in
                for source in sources {
                    try checkCancellation()
                    try policy.createDestinationInstances(forSource: source, in: mapping, manager: self)
                    try run.portions.saveIfFull()
                }
            }
            try policy.endInstanceCreation(forMapping: mapping, manager: self)
        }
        try run.portions.finishMaking()
    }

    /// Connects the objects.
    private func connect(_ run: MigrationRun) throws {
        try perform(1, run) { mapping, policy in
            // Without relationships, the default policy has nothing to do.
            let isUsual = type(of: policy) == NSEntityMigrationPolicy.self
            if isUsual, mapping.relationshipMappings?.isEmpty ?? true { return }
            try forEachPortion(ofDestinationsIn: mapping, run) { destinations in
                for destination in destinations {
                    try checkCancellation()
                    try policy.createRelationships(forDestination: destination, in: mapping, manager: self)
                }
            }
            try policy.endRelationshipCreation(forMapping: mapping, manager: self)
        }
    }

    /// The objects that an entity mapping made, in portions; the objects that they were made of are in memory, too.
    private func forEachPortion(
        ofDestinationsIn mapping: NSEntityMapping, _ run: MigrationRun, _ body: ([NSManagedObject]) throws -> Void
    ) throws {
        let name = mapping.name ?? ""
        // Associations that policies make from now on are not included.
        let (settled, live) = (run.associations.keyPairs(mapping: name), run.associations.made(mapping: name))
        for (group, pairs) in settled.enumerated() {
            let steps = run.relationshipSteps(mapping, from: pairs.source.layout)
            for start in stride(from: 0, to: pairs.count, by: MigrationPortions.reading) {
                // Objects of several entities may have become one object.
                let positions = (start..<min(start + MigrationPortions.reading, pairs.count)).filter { position in
                    pairs.destinations.isFirst(position)
                        && !settled[..<group].haveDestination(
                            pairs.destination.identifier(pairs.destinations.keys[position]))
                }
                let sources = try run.source.loadedObjects(
                    positions.map { pairs.source.identifier(pairs.sources.keys[$0]) })
                let destinations = try run.destination.loadedObjects(
                    positions.map { pairs.destination.identifier(pairs.destinations.keys[$0]) })
                let partners = try run.loadPartners(of: sources, steps)
                try withExtendedLifetime((sources, partners)) { try body(destinations) }
                try run.portions.saveIfFull()
                run.portions.letGo()
                let part = min(Float(start + MigrationPortions.reading) / Float(pairs.count), 1)
                noteProgress(run, (Float(group) + part) / Float(settled.count))
            }
        }
        try body(live.filter { !settled.haveDestination($0.identifier) })
    }
}
