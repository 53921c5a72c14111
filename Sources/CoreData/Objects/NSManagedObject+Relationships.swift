import Foundation

// Relationships: a change of one end also changes the other, without loading what is not needed for it.
extension NSManagedObject {
    /// Whether a relationship has not been loaded yet.
    final func isUnloaded(_ key: String) -> Bool {
        guard let relationship = layout.relationship(named: key) else { unknownKey(key) }
        if isFault { return true }
        if relationship.isToMany { return !(toManyMembersIfAny(relationship)?.isLoaded ?? false) }
        return toOne(relationship)?.isFault ?? false
    }

    /// The IDs of the objects at the other end of a relationship.
    final func identifiers(atEndOf key: String) -> [NSManagedObjectID] {
        guard let relationship = layout.relationship(named: key) else { unknownKey(key) }
        if relationship.isToMany { return toManyObjects(relationship).map(\.identifier) }
        return toOne(relationship).map { [$0.identifier] } ?? []
    }

    // MARK: Reading

    /// The destination of a to-one relationship: the context's object, made as a fault if necessary.
    package final func toOne(_ relationship: RelationshipLayout) -> NSManagedObject? {
        if !relations.isEmpty, case .toOne(let object) = relations[relationship.index] { return object }
        guard case .identifier(let identifier) = storedValue(at: relationship.slot), let context = storedContext else {
            return nil
        }
        let object = context.object(with: identifier)
        makeRelations()
        relations[relationship.index] = .toOne(object)
        return object
    }

    final func toManyMembersIfAny(_ relationship: RelationshipLayout) -> ToManyMembers? {
        guard !relations.isEmpty, case .toMany(let members) = relations[relationship.index] else { return nil }
        return members
    }

    /// The members of a to-many relationship, loaded or not.
    final func toManyMembers(_ relationship: RelationshipLayout) -> ToManyMembers {
        if let members = toManyMembersIfAny(relationship) { return members }
        makeRelations()
        // A new object has no row yet, so no stored rows refer to it.
        let members = ToManyMembers(
            isOrdered: relationship.isOrdered, isLoaded: state.contains(.inserted) || storedContext == nil)
        relations[relationship.index] = .toMany(members)
        return members
    }

    /// The members of a to-many relationship, loaded.
    final func loadedToManyMembers(_ relationship: RelationshipLayout) -> ToManyMembers {
        let members = toManyMembers(relationship)
        if !members.isLoaded { storedContext?.load(members, of: relationship, for: self) }
        return members
    }

    package final func toManyObjects(_ relationship: RelationshipLayout) -> [NSManagedObject] {
        if state.contains(.fault) { fireFault() }
        return loadedToManyMembers(relationship).all
    }

    /// The value of a to-many relationship in key-value coding: an `NSSet` or an `NSOrderedSet`.
    final func toManyValue(_ relationship: RelationshipLayout) -> Any {
        if state.contains(.fault) { fireFault() }
        return loadedToManyMembers(relationship).value
    }

    private func makeRelations() {
        if relations.isEmpty {
            relations = Array(
                repeating: .unresolved, count: layout.relationships.count + layout.fetchedProperties.count)
        }
    }

    /// Forgets the contents of relationships. Results of fetched properties stay until the object becomes a fault.
    final func forgetRelationships() {
        guard !relations.isEmpty, !layout.fetchedProperties.isEmpty else { return relations = [] }
        for index in layout.relationships.indices { relations[index] = .unresolved }
    }

    /// Makes fetched properties fetch again.
    final func forgetFetchedValues() {
        guard !relations.isEmpty else { return }
        for index in layout.relationships.count..<relations.count { relations[index] = .unresolved }
    }

    /// The result of a fetched property: fetched once, and kept until the object becomes a fault.
    final func fetchedValue(_ index: Int) -> Any? {
        if state.contains(.fault) { fireFault() }
        let position = layout.relationships.count + index
        if !relations.isEmpty, case .fetched(let found) = relations[position] { return found }
        guard let context = storedContext else { return nil }
        guard let found = context.fetchedPropertyValue(layout.fetchedProperties[index], of: self) else {
            return [NSManagedObject]()
        }
        makeRelations()
        relations[position] = .fetched(found)
        return found
    }

    // MARK: Changing one end

    final func setToOne(_ relationship: RelationshipLayout, toAny value: Any?) {
        // Generic code passes an optional inside an `Any`.
        switch StoredValue.unwrapped(value) {
        case nil, is NSNull: setToOne(relationship, to: nil)
        case let object as NSManagedObject where object.isAbsent: setToOne(relationship, to: nil)
        case let object as NSManagedObject where object.layout.isKind(of: relationship.destination):
            setToOne(relationship, to: object)
        case let other?:
            setToOne(relationship, to: nil)
            values[relationship.slot] = .object(UnacceptableValue(other))
        }
    }

    package final func setToOne(_ relationship: RelationshipLayout, to object: NSManagedObject?) {
        willChange()
        let former = toOne(relationship)
        guard former !== object else {
            if object == nil { values[relationship.slot] = .null }
            return
        }
        if let object { checkContext(of: object, for: relationship) }
        changing(relationship) { assignToOne(relationship, object) }
        guard let inverse = inverseToKeep(of: relationship) else { return }
        former?.disconnect(inverse, from: self)
        object?.connect(inverse, to: self)
    }

    package final func setToMany(_ relationship: RelationshipLayout, to objects: [NSManagedObject]) {
        willChange()
        let members = loadedToManyMembers(relationship)
        let wanted = IdentitySet(objects)
        let former = members.all.filter { !wanted.contains($0) }
        let new = objects.filter { !members.contains($0) }
        asOneChange(relationship.name, { .setting }) {
            for object in relationship.isOrdered ? former : Self.inOrder(former) {
                removeFromToMany(relationship, object)
            }
            for object in relationship.isOrdered ? new : Self.inOrder(new) { addToMany(relationship, object) }
            if relationship.isOrdered {
                var seen: IdentitySet = []
                changing(relationship) { members.reorder(objects.filter { seen.insert($0) }) }
            }
        }
    }

    /// Adds several destinations as one change for observers.
    final func addToMany(_ relationship: RelationshipLayout, all objects: [NSManagedObject]) {
        asOneChange(relationship.name, { toManyMembers(relationship).coming(objects) }) {
            for object in objects { addToMany(relationship, object) }
        }
    }

    /// Removes several destinations as one change for observers.
    final func removeFromToMany(_ relationship: RelationshipLayout, all objects: [NSManagedObject]) {
        asOneChange(relationship.name, { toManyMembers(relationship).leaving(objects) }) {
            for object in objects { removeFromToMany(relationship, object) }
        }
    }

    /// Adds a destination to a to-many relationship; at the end of an ordered one, unless an index is given.
    final func addToMany(_ relationship: RelationshipLayout, _ object: NSManagedObject, at index: Int? = nil) {
        willChange()
        checkContext(of: object, for: relationship)
        if !object.layout.isKind(of: relationship.destination) {
            programmerError(
                "“\(layout.name).\(relationship.name)” holds \(relationship.destination.name) objects, not "
                    + "\(object.layout.name)")
        }
        let members = relationship.isOrdered ? loadedToManyMembers(relationship) : toManyMembers(relationship)
        announce { members.coming([object], at: index) }
        guard changing(relationship, { members.insert(object, at: index) }) else { return }
        guard let inverse = inverseToKeep(of: relationship) else { return }
        object.connect(inverse, to: self)
    }

    final func removeFromToMany(_ relationship: RelationshipLayout, _ object: NSManagedObject) {
        willChange()
        let members = toManyMembers(relationship)
        announce { members.leaving([object]) }
        guard changing(relationship, { members.remove(object) }), let inverse = inverseToKeep(of: relationship) else {
            return
        }
        object.disconnect(inverse, from: self)
    }

    final func reorderToMany(_ relationship: RelationshipLayout, _ order: [NSManagedObject]) {
        willChange()
        let members = loadedToManyMembers(relationship)
        changing(relationship) { members.reorder(order) }
    }

    /// Exchanges two members of an ordered relationship.
    final func exchangeInToMany(_ relationship: RelationshipLayout, _ first: Int, _ second: Int) {
        willChange()
        let members = loadedToManyMembers(relationship)
        changing(relationship) { members.exchange(first, second) }
    }

    // MARK: The other end

    /// The inverse relationship, if it must be changed as well; nil while an object awakes.
    private func inverseToKeep(of relationship: RelationshipLayout) -> RelationshipLayout? {
        guard let inverse = relationship.inverse, storedContext?.isAwakening != true else { return nil }
        return inverse
    }

    /// Adds `object` to this end of a relationship, after the other end was set to this object.
    final func connect(_ relationship: RelationshipLayout, to object: NSManagedObject) {
        willChange()
        if relationship.isToMany {
            let members = toManyMembers(relationship)
            announce { members.coming([object]) }
            changing(relationship) { _ = members.insert(object) }
            return
        }
        let former = toOne(relationship)
        guard former !== object else { return }
        changing(relationship) { assignToOne(relationship, object) }
        guard let former, let inverse = relationship.inverse else { return }
        // An object that led to itself has got its other end already.
        if former === self, inverse === relationship { return }
        if inverse.isToMany { former.announce { former.toManyMembers(inverse).leaving([self]) } }
        former.changing(inverse) {
            if inverse.isToMany {
                former.toManyMembers(inverse).remove(self)
            } else {
                former.assignToOne(inverse, nil)
            }
        }
    }

    /// Removes `object` from this end of a relationship, after the other end no longer refers to this object.
    final func disconnect(_ relationship: RelationshipLayout, from object: NSManagedObject) {
        willChange()
        if relationship.isToMany {
            let members = toManyMembers(relationship)
            announce { members.leaving([object]) }
            changing(relationship) { _ = members.remove(object) }
        } else if toOne(relationship) === object {
            changing(relationship) { assignToOne(relationship, nil) }
        }
    }

    /// Changes a relationship, between calls of the methods that subclasses may override.
    @discardableResult
    private func changing<Result>(_ relationship: RelationshipLayout, _ change: () -> Result) -> Result {
        willChange()
        willChangeValue(forKey: relationship.name)
        endAnnouncement()
        let result = change()
        didChangeValue(forKey: relationship.name)
        return result
    }

    private func assignToOne(_ relationship: RelationshipLayout, _ object: NSManagedObject?) {
        makeRelations()
        relations[relationship.index] = .toOne(object)
        values[relationship.slot] = object.map { .identifier($0.identifier) } ?? .null
    }

    private func checkContext(of object: NSManagedObject, for relationship: RelationshipLayout) {
        guard let mine = storedContext, let other = object.storedContext, mine !== other else { return }
        programmerError(
            "illegal attempt to establish relationship “\(layout.name).\(relationship.name)” between objects of "
                + "different contexts; fetch the object by its ID in this context first")
    }

    // MARK: Deletion

    /// Removes the object from the relationships of others, according to its delete rules.
    ///
    /// - Returns: the objects that must be deleted with it.
    final func followDeleteRules() -> [NSManagedObject] {
        var deleted: [NSManagedObject] = []
        for relationship in layout.relationships {
            switch relationship.deleteRule {
            case .cascadeDeleteRule: deleted += destinationsInOrder(relationship).filter { !$0.isDeleted }
            case .nullifyDeleteRule:
                guard let inverse = relationship.inverse else { continue }
                for destination in destinationsInOrder(relationship) where !destination.isDeleted {
                    destination.disconnect(inverse, from: self)
                }
            case .denyDeleteRule, .noActionDeleteRule: continue
            }
        }
        return deleted
    }

    final func destinationsInOrder(_ relationship: RelationshipLayout) -> [NSManagedObject] {
        guard relationship.isToMany else { return toOne(relationship).map { [$0] } ?? [] }
        let destinations = toManyObjects(relationship)
        return relationship.isOrdered ? destinations : Self.inOrder(destinations)
    }
}
