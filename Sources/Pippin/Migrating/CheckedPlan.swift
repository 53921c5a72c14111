import StoreSession

/// A plan whose models and mappings have all been found and fit together.
struct CheckedPlan {
    /// A step, with everything that it needs.
    struct Step {
        let source: NSManagedObjectModel
        let destination: NSManagedObjectModel
        let way: Way
    }

    /// How the rows of one version become those of the next one.
    enum Way {
        case inferred(MappingPlan)
        case mapped(NSMappingModel, MappedStep)
        case changing(ChangingStep)
    }

    let plan: MigrationPlan
    let models: [NSManagedObjectModel]
    let steps: [Step]

    /// Checks a plan. No store is touched.
    ///
    /// - Throws: ``PersistenceError``
    init(_ plan: MigrationPlan, endingAt model: NSManagedObjectModel, of manager: String) throws {
        var names: Set<String> = []
        for version in plan.versions where !names.insert(version.name).inserted {
            throw PersistenceError.repeatedVersion(version.name)
        }
        let models = try plan.versions.map { version in
            do { return try version.model() } catch {
                throw PersistenceError.unavailableVersion(version.name, reason: error.localizedDescription)
            }
        }
        guard let last = models.last, last.entityVersionHashesByName == model.entityVersionHashesByName else {
            throw PersistenceError.notTheManagersModel(last: plan.versions.last?.name ?? "", manager: manager)
        }
        try self.init(plan, over: models)
    }

    /// The steps between models of the versions.
    ///
    /// - Parameters:
    ///   - plan: the steps, by versions.
    ///   - models: the versions' models, in order.
    ///   - carried: entities that the versions do not name, which are migrated along, also by mapping models.
    /// - Throws: ``PersistenceError`` for a step that does not lead from one version to the next.
    init(_ plan: MigrationPlan, over models: [NSManagedObjectModel], carrying carried: Set<String> = []) throws {
        self.plan = plan
        self.models = models
        steps = try plan.steps.indices.map { index in
            let ends = StepEnds(
                from: plan.versions[index].name, to: plan.versions[index + 1].name, source: models[index],
                destination: models[index + 1])
            switch plan.steps[index] {
            case .inferred: return ends.step(.inferred(try ends.inferred()))
            case .mapped(let step):
                let mapping = try ends.carrying(carried, in: ends.checked(try step.mapping()))
                return ends.step(.mapped(mapping, step))
            case .changing(let changes): return ends.step(.changing(try ends.changing(changes)))
            }
        }
    }
}

extension CheckedPlan {
    /// The entities of a version of structs that a later step removes, with the version that lacks them, unless the
    /// schema of a model in that version or a later one says that they are removed. A mapping model says itself what
    /// it takes.
    func unnamedRemovals(from start: Int) -> [(entity: String, version: String)] {
        var removals: [(entity: String, version: String)] = []
        // The present names of the entities, by their names in the store.
        var names = Dictionary(
            plan.versions[start].registry.plans.map { ($0.name, $0.name) }, uniquingKeysWith: { first, _ in first })
        for index in start..<steps.count {
            if case .mapped = steps[index].way { return removals }
            let successors = ModelCorrespondence(from: models[index], to: models[index + 1]).successors
            let permitted = plan.versions[(index + 1)...].reduce(into: Set<String>()) {
                $0.formUnion($1.registry.reconciliationRules.removedEntities)
            }
            for (entity, name) in names.sorted(by: { $0.key < $1.key }) {
                names[entity] = successors[name]
                guard successors[name] == nil, permitted.isDisjoint(with: [entity, name]) else { continue }
                removals.append((entity, plan.versions[index + 1].name))
            }
        }
        return removals
    }
}

/// A step with closures: what can be inferred is done by statements, then the closures change rows, and then the rows
/// must fit the next version.
struct ChangingStep {
    /// The changes in their order, with the names of their entities after the step.
    let changes: [(change: RecordChange, destination: String)]
    /// The next version, in which the attributes of changed rows may still lack values and have shared ones.
    let loosened: NSManagedObjectModel
    /// What can be inferred of it.
    let loosening: MappingPlan
}

/// Two versions, one after the other.
private struct StepEnds {
    let from: String
    let to: String
    let source: NSManagedObjectModel
    let destination: NSManagedObjectModel

    func step(_ way: CheckedPlan.Way) -> CheckedPlan.Step {
        CheckedPlan.Step(source: source, destination: destination, way: way)
    }

    func inferred() throws -> MappingPlan { try inferred(destination) }

    private func inferred(
        _ destination: NSManagedObjectModel, dropping dropped: DroppedNames = DroppedNames()
    ) throws -> MappingPlan {
        do { return try MappingInference.plan(from: source, to: destination, dropping: dropped) } catch {
            let info = (error as NSError).userInfo
            let (entity, property) = (info["entity"] as? String ?? "", info["property"] as? String)
            throw PersistenceError.notInferable(
                from: from, to: to, entity: entity, property: property,
                reason: info["reason"] as? String ?? error.localizedDescription,
                isAttribute: self.destination.attribute(at: property, of: entity) != nil)
        }
    }

    /// A mapping model, checked to name entities that exist.
    func checked(_ mapping: NSMappingModel) throws -> NSMappingModel {
        for entity in mapping.entityMappings ?? [] {
            try check(entity.sourceEntityName, in: source, from)
            try check(entity.destinationEntityName, in: destination, to)
        }
        return mapping
    }

    /// A mapping model with inferred mappings for entities that the versions do not name. The given one may be that of
    /// other stores, too, and stays as it is.
    func carrying(_ entities: Set<String>, in mapping: NSMappingModel) throws -> NSMappingModel {
        guard !entities.isEmpty else { return mapping }
        let mapped = Set((mapping.entityMappings ?? []).compactMap(\.sourceEntityName))
        // For the error of versions between which nothing can be inferred.
        _ = try inferred()
        let inferred = try NSMappingModel.inferredMappingModel(forSourceModel: source, destinationModel: destination)
        let carried = inferred.entityMappings.filter {
            $0.sourceEntityName.map { entities.contains($0) && !mapped.contains($0) } ?? false
        }
        guard !carried.isEmpty else { return mapping }
        let all = NSMappingModel()
        all.entityMappings = mapping.entityMappings + carried
        return all
    }

    private func check(_ entity: String?, in model: NSManagedObjectModel, _ version: String) throws {
        let known = model.entitiesByName
        guard let entity, known[entity] == nil else { return }
        throw PersistenceError.unknownEntity(entity, version: version, known: known.keys.sorted())
    }

    func changing(_ changes: [RecordChange]) throws -> ChangingStep {
        var names: Set<String> = []
        for change in changes {
            try check(change.source, in: source, from)
            guard names.insert(change.source).inserted else {
                throw PersistenceError.repeatedChange(entity: change.source, from: from, to: to)
            }
        }
        let correspondence = ModelCorrespondence(from: source, to: destination)
        let found = try changes.map { change in
            guard let successor = correspondence.successors[change.source] else {
                throw PersistenceError.unknownEntity(
                    change.source, version: to, known: destination.entitiesByName.keys.sorted())
            }
            return (change: change, destination: successor)
        }
        let (loosened, plan) = try loosened(names, correspondence)
        return ChangingStep(changes: found, loosened: loosened, loosening: plan)
    }

    /// The destination without rules for what changes set, and what can be inferred of it. Attributes that cannot be
    /// inferred, or have such elements, start without values if changes take care of all entities that have them.
    private func loosened(
        _ changed: Set<String>, _ names: ModelCorrespondence
    ) throws -> (NSManagedObjectModel, MappingPlan) {
        let loosened = destination.copy() as? NSManagedObjectModel ?? destination
        for entity in loosened.entities where changed.contains(names.entities[entity.name ?? ""] ?? "") {
            entity.rootEntity.loosen()
            for attribute in entity.attributesByName.values
            where attribute.entity.withDescendants.allSatisfy({ $0.isChanged(in: changed, names.entities) }) {
                attribute.loosen()
            }
        }
        var dropped = DroppedNames()
        while true {
            do {
                let plan = try inferred(loosened, dropping: dropped)
                for entity in loosened.entities where changed.contains(names.entities[entity.name ?? ""] ?? "") {
                    for relationship in entity.relationshipsByName.values {
                        relationship.isOptional = true
                        relationship.minCount = 0
                    }
                }
                return (loosened, plan)
            } catch let error as PersistenceError where error.code == .notInferable {
                guard let attribute = loosened.attribute(at: error.property, of: error.entity ?? "") else {
                    throw error
                }
                // An inherited attribute is dropped where it is declared.
                let owners = attribute.entity.withDescendants
                if let unchanged = owners.first(where: { !$0.isChanged(in: changed, names.entities) }) {
                    throw PersistenceError.notInferable(
                        from: from, to: to, entity: unchanged.name ?? "", property: error.property,
                        reason: error.reason ?? "", isAttribute: true)
                }
                let former = dropped
                for owner in owners {
                    guard let entity = owner.name, let source = names.entities[entity],
                        let name = names.properties[entity]?[attribute.name]
                    else { continue }
                    dropped.insert(name, of: source)
                }
                guard dropped != former else { throw error }
            }
        }
    }
}

extension NSManagedObjectModel {
    /// The attribute that a place is of, such as `address` for `address.zip`.
    fileprivate func attribute(at place: String?, of entity: String) -> NSAttributeDescription? {
        place?.split(separator: ".").first.flatMap { entitiesByName[entity]?.attributesByName[String($0)] }
    }
}

extension NSAttributeDescription {
    /// Lets the attribute, and its elements, have no value.
    fileprivate func loosen() {
        isOptional = true
        for element in (self as? NSCompositeAttributeDescription)?.elements ?? [] { element.loosen() }
    }
}

extension NSEntityDescription {
    fileprivate var withDescendants: [NSEntityDescription] { [self] + subentities.flatMap(\.withDescendants) }

    /// Removes what must be unique, and what is fetched quickly, until the rows are changed.
    fileprivate func loosen() {
        for entity in withDescendants {
            entity.uniquenessConstraints = []
            entity.indexes = []
        }
    }

    /// Whether none of the entity's objects is migrated without a change.
    fileprivate func isChanged(in changed: Set<String>, _ formerNames: [String: String]) -> Bool {
        isAbstract || (formerNames[name ?? ""].map(changed.contains) ?? true)
    }
}
