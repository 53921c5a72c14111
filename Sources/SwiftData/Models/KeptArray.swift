import CoreData

/// The array of one relationship to many, kept by the model that has it.
class KeptModels {
    /// The number of the property.
    let number: Int

    init(_ number: Int) { self.number = number }
}

/// The array that was made last of a relationship to many, so that a loop need not make it each time.
///
/// What is added and removed one by one is added to the array and removed from it. A program that appends to the
/// property changes this array itself: it is taken out meanwhile, and then compared with the second array, which the
/// program never sees. So the cost of an addition is a comparison of references, and no copy.
final class KeptArray<Element: PersistentModel>: KeptModels {
    fileprivate var array: [Element] = []
    /// The same models in the same order.
    fileprivate var known: [Element] = []
    /// Whether a program is changing the array.
    fileprivate var isTaken = false

    /// The objects of the models of an inserted model, with what tells whether they still are its members.
    fileprivate var objects: [ModelObject] = []
    fileprivate var stamp: MembersStamp?
    /// How many of the objects, the first ones, have a row.
    fileprivate var storedCount = 0

    /// For a model without a context: what was known of its related models.
    fileprivate var generation = 0
    fileprivate var placeCount = 0

    /// Where a changed array differs from the known one: what comes before and after it is the same in both.
    fileprivate func difference(_ changed: [Element]) -> (former: Range<Int>, new: Range<Int>) {
        known.withUnsafeBytes { known in
            changed.withUnsafeBytes { changed in
                let count = min(known.count, changed.count) / MemoryLayout<UInt>.size
                // References are compared as numbers; both arrays keep their models alive.
                let (old, new) = (known.bindMemory(to: UInt.self), changed.bindMemory(to: UInt.self))
                let bytes = count * MemoryLayout<UInt>.size
                if let left = old.baseAddress, let right = new.baseAddress, memcmp(left, right, bytes) == 0 {
                    return (count..<old.count, count..<new.count)
                }
                var start = 0
                while start < count, old[start] == new[start] { start += 1 }
                var same = 0
                while start + same < count, old[old.count - 1 - same] == new[new.count - 1 - same] { same += 1 }
                return (start..<(old.count - same), start..<(new.count - same))
            }
        }
    }

    fileprivate func insert(_ object: ModelObject, _ model: Element) {
        let place = place(of: object)
        array.insert(model, at: place)
        known.insert(model, at: place)
        objects.insert(object, at: place)
        if !object.isWithoutRow { storedCount += 1 }
    }

    /// - Returns: whether the object was found.
    fileprivate func remove(_ object: ModelObject) -> Bool {
        let place = place(of: object)
        guard place < objects.count, objects[place] === object else { return false }
        array.remove(at: place)
        forget(place..<(place + 1))
        return true
    }

    /// Removes models that are not in the array any more.
    fileprivate func forget(_ range: Range<Int>) {
        known.removeSubrange(range)
        guard stamp != nil else { return }
        objects.removeSubrange(range)
        storedCount -= range.clamped(to: 0..<storedCount).count
    }

    private func place(of object: ModelObject) -> Int {
        // Most are added behind all others.
        if let last = objects.last, last.isInOrder(before: object) { return objects.count }
        var range = objects.indices
        while !range.isEmpty {
            let middle = (range.lowerBound + range.upperBound) / 2
            range =
                objects[middle].isInOrder(before: object) ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }

    /// Counts the objects that have got rows.
    ///
    /// - Returns: whether the objects are in their order with the keys that they have now.
    fileprivate func noteSave() -> Bool {
        for place in max(storedCount, 1)..<max(objects.count, 1)
        where !objects[place - 1].isInOrder(before: objects[place]) {
            return false
        }
        while storedCount < objects.count, !objects[storedCount].isWithoutRow { storedCount += 1 }
        return true
    }
}

extension ModelState {
    // MARK: Reading

    /// The models of a relationship to many.
    func models<Element: PersistentModel>(_ property: ModelProperty, of type: Element.Type) -> [Element] {
        if let kept: KeptArray<Element> = currentArray(property) { return kept.array }
        return relatedModels(property).compactMap { $0 as? Element }
    }

    /// The models of a relationship to many, in an array that the program may change in its place. `setModels` ends
    /// the change.
    func takeModels<Element: PersistentModel>(_ property: ModelProperty, of type: Element.Type) -> [Element] {
        guard let kept: KeptArray<Element> = currentArray(property) else { return models(property, of: type) }
        kept.isTaken = true
        defer { kept.array = [] }
        return kept.array
    }

    private func keptArray<Element>(_ property: ModelProperty) -> KeptArray<Element>? {
        guard !kept.isEmpty else { return nil }
        return kept.first { $0.number == property.number } as? KeptArray<Element>
    }

    /// The array as it is now, made if it is not kept; nil if it cannot be kept.
    private func currentArray<Element>(_ property: ModelProperty) -> KeptArray<Element>? {
        guard recorder == nil, hasCollection(property) else { return nil }
        if let found: KeptArray<Element> = keptArray(property), !found.isTaken, bringUpToDate(found, property) {
            return found
        }
        kept.removeAll { $0.number == property.number }
        let made = KeptArray<Element>(property.number)
        guard object == nil ? fillUnattached(made) : fill(made, property) else { return nil }
        kept.append(made)
        return made
    }

    private func relationship(_ property: ModelProperty) -> RelationshipLayout? {
        guard case .relationship(let relationship)? = binding?.places[property.number] else { return nil }
        return relationship
    }

    /// Whether an array has all that is known of the relationship.
    private func isCurrent<Element>(_ kept: KeptArray<Element>, _ property: ModelProperty) -> Bool {
        if let object {
            guard let stamp = kept.stamp, let relationship = relationship(property) else { return false }
            return object.isCurrent(stamp, of: relationship)
        }
        guard let ends = related[property.number], kept.stamp == nil else { return false }
        return ends.generation == kept.generation && ends.placeCount == kept.placeCount
    }

    /// - Returns: whether the array is up to date; it is not if too much has changed.
    private func bringUpToDate<Element>(_ kept: KeptArray<Element>, _ property: ModelProperty) -> Bool {
        if isCurrent(kept, property) { return true }
        guard let object else {
            guard let ends = related[property.number], kept.stamp == nil, ends.generation == kept.generation else {
                return false
            }
            return fillUnattached(kept)
        }
        guard let context, let relationship = relationship(property), let stamp = kept.stamp,
            let steps = object.memberSteps(since: stamp, of: relationship)
        else { return false }
        let isSaved = steps.contains { if case .saved = $0 { true } else { false } }
        if isSaved, !kept.noteSave() { return false }
        for step in steps {
            switch step {
            case .saved: continue
            case .added(let object):
                guard let object = object as? ModelObject, let model: Element = holdable(object, in: context) else {
                    return false
                }
                kept.insert(object, model)
            case .removed(let object):
                guard let object = object as? ModelObject, kept.remove(object) else { return false }
            }
        }
        kept.stamp = object.membersStamp(relationship)
        return kept.stamp != nil
    }

    /// Makes the array of an inserted model.
    private func fill<Element>(_ made: KeptArray<Element>, _ property: ModelProperty) -> Bool {
        guard let object, let binding, let context, let relationship = relationship(property), relationship.isToMany
        else { return false }
        made.objects = binding.related(property, of: object)
        guard let stamp = object.membersStamp(relationship) else { return false }
        made.array.reserveCapacity(made.objects.count)
        for object in made.objects {
            guard let model: Element = holdable(object, in: context) else { return false }
            made.array.append(model)
        }
        made.known = made.array
        made.stamp = stamp
        made.storedCount = made.objects.count
        while made.storedCount > 0, made.objects[made.storedCount - 1].isWithoutRow { made.storedCount -= 1 }
        return true
    }

    /// The model of an object, which the array may hold: it keeps no arrays itself from then on, and is not the one
    /// whose array this is. So models never hold each other in a circle, which nobody would release.
    private func holdable<Element: PersistentModel>(_ object: ModelObject, in context: ModelContext) -> Element? {
        guard let model = context.model(of: object) as? Element, let state = object.modelState, state !== self else {
            return nil
        }
        state.kept = []
        return model
    }

    /// Adds what the array of a model without a context lacks.
    private func fillUnattached<Element>(_ kept: KeptArray<Element>) -> Bool {
        guard let ends = related[kept.number] else { return false }
        for end in ends.all(from: kept.placeCount) {
            guard let model = end.shown as? Element else { return false }
            kept.array.append(model)
            kept.known.append(model)
        }
        (kept.generation, kept.placeCount) = (ends.generation, ends.placeCount)
        return true
    }

    // MARK: Changing

    /// Sets the models of a relationship to many. Only what differs from the present ones is looked at, as far as these
    /// are known in their order.
    ///
    /// - Parameters:
    ///   - property: the relationship.
    ///   - models: the models; empty afterwards if they are those that the program has taken, and changed.
    func setModels<Element: PersistentModel>(_ property: ModelProperty, _ models: inout [Element]) {
        guard let kept: KeptArray<Element> = keptArray(property), recorder == nil,
            kept.isTaken ? isCurrent(kept, property) : bringUpToDate(kept, property)
        else { return setAll(property, models) }
        let (former, new) = kept.difference(models)
        let added = Array(models[new])
        // Models of a context bring this one along.
        if object == nil, added.contains(where: { $0.modelState?.context != nil }) { return setAll(property, models) }
        let isAtEnd = former.isEmpty && new.upperBound == models.count
        if object != nil {
            change(property, kept, former, added)
        } else if isAtEnd {
            append(property, added)
        } else if added.isEmpty {
            remove(property, Array(kept.known[former]))
        } else {
            return setAll(property, models)
        }
        guard kept.isTaken else { return }
        kept.isTaken = false
        if isAtEnd {
            // What is new is added again in its place, when the array is read.
            models.removeLast(added.count)
        } else if added.isEmpty, isOnlyChange(property, kept, removed: former.count) {
            kept.forget(former)
            if let object, let relationship = relationship(property) { kept.stamp = object.membersStamp(relationship) }
            if let ends = related[property.number] {
                (kept.generation, kept.placeCount) = (ends.generation, ends.placeCount)
            }
        } else {
            models = kept.known
        }
        swap(&kept.array, &models)
    }

    private func setAll<Element: PersistentModel>(_ property: ModelProperty, _ models: [Element]) {
        kept.removeAll { $0.number == property.number }
        setRelated(property, models)
    }

    /// Whether nothing but a number of removals has happened since an array was current.
    private func isOnlyChange<Element>(
        _ property: ModelProperty, _ kept: KeptArray<Element>, removed count: Int
    ) -> Bool {
        guard let object else { return true }
        guard let stamp = kept.stamp, let relationship = relationship(property),
            let steps = object.memberSteps(since: stamp, of: relationship), steps.count == count
        else { return false }
        return steps.allSatisfy { if case .removed = $0 { true } else { false } }
    }

    private func append(_ property: ModelProperty, _ models: [some PersistentModel]) {
        let inverse = InverseTable.inverse(of: property, type)
        for model in models {
            guard let state = model.modelState,
                related[property.number, default: RelatedModels()].append(state, model)
            else { continue }
            if let inverse { state.connect(inverse, self) }
        }
    }

    private func remove(_ property: ModelProperty, _ models: [some PersistentModel]) {
        let inverse = InverseTable.inverse(of: property, type)
        for state in models.lazy.compactMap(\.modelState) {
            related[property.number]?.remove(state)
            if let inverse { state.disconnect(inverse, self) }
        }
    }

    /// Changes the members of an inserted model's object.
    private func change<Element>(
        _ property: ModelProperty, _ kept: KeptArray<Element>, _ former: Range<Int>, _ added: [Element]
    ) {
        guard let object, let context, let relationship = relationship(property) else { return }
        for state in added.lazy.compactMap(\.modelState) { context.attach(state) }
        let coming = added.compactMap { $0.modelState.flatMap { context.object(of: $0) } }
        let staying = Set(coming.map { ObjectIdentifier($0) })
        let leaving = kept.objects[former].filter { !staying.contains(ObjectIdentifier($0)) }
        let new = coming.filter { !object.hasMember($0, of: relationship) }
        changing(property) { object.changeToMany(relationship, removing: leaving, adding: new) }
        context.noteChange(of: type)
    }
}
