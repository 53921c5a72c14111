import Foundation

extension CoreModel {
    /// The model with what a partial JSON object says (RFC 7396), for a request that changes some properties:
    ///
    /// ```swift
    /// let changed = try await manager.write { store in
    ///     guard let book = try store.find(Book.self, id: id) else { return nil as Book? }
    ///     let changed = try book.merging(json: body)
    ///     try store.save(changed)
    ///     return changed
    /// }
    /// ```
    ///
    /// A member takes the place of the property's value, `null` takes it away, and an object is merged into a nested
    /// value. Numbers keep their digits. The identifier stays.
    ///
    /// - Parameters:
    ///   - patch: the object, in UTF-8.
    ///   - encoder: writes the model as the object that the patch is for.
    ///   - decoder: reads it back.
    /// - Returns: the changed model. Nothing is saved.
    /// - Throws: ``PersistenceError`` with `invalid` for what is not an object, a value that the model cannot have, and
    ///   another identifier; with `unknownProperty` for a member that the model does not have.
    public func merging(
        json patch: Data, encoder: JSONEncoder = JSONEncoder(), decoder: JSONDecoder = JSONDecoder()
    ) throws -> Self {
        let name = "\(Self.self)"
        guard let patch = JSONTree(patch), case .object(let members) = patch else {
            throw PersistenceError.notMerged(entity: name, property: nil, "It is not a JSON object.")
        }
        guard let present = JSONTree(try encoder.encode(self)), case .object(let known) = present else {
            throw PersistenceError.notMerged(entity: name, property: nil, "The model is not coded as an object.")
        }
        let merged: Self
        do { merged = try decoder.decode(Self.self, from: Data(present.patched(with: patch).bytes)) } catch {
            throw PersistenceError.notMerged(entity: name, property: nil, error.decodingReason)
        }
        guard merged.id == id else {
            throw PersistenceError.notMerged(entity: name, property: "id", "A model keeps its identifier, \(id).")
        }
        guard case .object(let result)? = JSONTree(try encoder.encode(merged)) else { return merged }
        let names = Set(result.map(\.key))
        if let unknown = members.first(where: { !$0.value.isNull && !names.contains($0.key) }) {
            throw PersistenceError.unknownProperty(
                String(decoding: unknown.key, as: UTF8.self), entity: name,
                known: Set(known.map(\.key)).union(names).map { String(decoding: $0, as: UTF8.self) }.sorted())
        }
        return merged
    }
}

extension JSONTree {
    /// The value with what a patch says (RFC 7396). Pure.
    func patched(with patch: JSONTree) -> JSONTree {
        guard case .object(let changes) = patch else { return patch }
        var members: [Member] = []
        if case .object(let own) = self { members = own }
        for change in changes {
            let place = members.firstIndex { $0.key == change.key }
            if change.value.isNull {
                if let place { members.remove(at: place) }
            } else if let place {
                members[place].value = members[place].value.patched(with: change.value)
            } else {
                members.append(
                    Member(key: change.key, text: change.text, value: JSONTree.object([]).patched(with: change.value)))
            }
        }
        return .object(members)
    }
}
