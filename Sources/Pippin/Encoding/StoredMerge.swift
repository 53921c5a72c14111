import StoreSession

// What a save writes in the place of a stored value. A value that the program has not changed is not written, and what
// the program's type does not know of a stored one stays: another program has written it.
extension FieldPlan {
    /// Merges a new value of this field into the stored one. It is for values that differ.
    ///
    /// - Parameters:
    ///   - new: the value that the program wants to store.
    ///   - stored: the stored value.
    /// - Returns: the value to be stored; the stored one if the program has not changed it.
    /// - Throws: ``StoredMergeRefusal`` if a part of the stored value would be lost.
    func merged(_ new: StoredValue, into stored: StoredValue) throws -> StoredValue {
        // A list that is missing in the store, and cannot be in this program, which has read it as an empty one.
        if stored.isNull, let emptyValue, case .data(emptyValue) = new { return stored }
        switch kind {
        case .json:
            guard case .data(let wanted) = new, case .data(let data) = stored,
                let type = codedType as? any Decodable.Type
            else { return new }
            let merged = try Self.merged(wanted, into: data, type)
            return merged == data ? stored : .data(merged)
        case .composite(let record): return try record.merged(new, into: stored)
        case .attribute(let kind):
            guard let type = codedType as? any Decodable.Type, let known = try? Self.coded(stored, kind, type) else {
                return new
            }
            return known == new ? stored : new
        case .toOne, .toMany: return new
        }
    }

    private static func coded<Value: Decodable>(
        _ stored: StoredValue, _ kind: AttributeKind, _ type: Value.Type
    ) throws -> StoredValue? {
        let value = try AttributeDecoder.value(type, stored, entity: "", key: "")
        guard let value = value as? any Encodable else { return nil }
        return try AttributeEncoder.storedValue(of: value, kind, name: "")
    }

    private static func merged<Value: Decodable>(_ wanted: Data, into stored: Data, _ type: Value.Type) throws -> Data {
        let known: Data?
        do { known = try coded(stored, type) } catch {
            // What is not JSON has no parts either.
            guard JSONTree(stored) != nil else { return wanted }
            throw StoredMergeRefusal(
                reason:
                    "the store has a value that this program cannot read (\(error.decodingReason)), and the save would replace it. "
                    + "Save with the program that wrote it, or delete the model first.")
        }
        if known == stored { return wanted }
        if known == wanted { return stored }
        // A type that encodes what it has read in another way each time tells nothing.
        guard let known, let storedTree = JSONTree(stored), let knownTree = JSONTree(known),
            let wantedTree = JSONTree(wanted), isSame(try? coded(wanted, type), wantedTree)
        else { return wanted }
        var merge = JSONMerge()
        let merged = merge.merged(storedTree, knownTree, wantedTree)
        if merged == storedTree { return stored }
        let data = Data(merged.bytes)
        if merge.lost.isEmpty, isSame(try? coded(data, type), wantedTree) { return data }
        let lost = merge.lost.isEmpty ? storedTree.unknown(to: knownTree) : merge.lost
        throw StoredMergeRefusal(
            reason:
                "the store has values that this program does not know (\(lost.prefix(5).joined(separator: ", "))\(lost.count > 5 ? ", …" : "")), "
                + "and the save would lose them. Save with the program that wrote them, or change one element at a time; "
                + "elements with an 'id' are told apart by it.")
    }

    private static func coded<Value: Decodable>(_ data: Data, _ type: Value.Type) throws -> Data? {
        guard let value = try ValueJSON.value(type, in: data) as? any Encodable else { return nil }
        return try ValueJSON.data(of: value)
    }

    /// Whether JSON is that of a value, in whatever order sets within it are.
    private static func isSame(_ data: Data??, _ value: JSONTree) -> Bool {
        guard let data = data ?? nil, let tree = JSONTree(data) else { return false }
        return tree == value || tree.unorderedBytes == value.unorderedBytes
    }
}

extension RecordPlan {
    /// Merges a new nested value into the stored one, field by field.
    fileprivate func merged(_ new: StoredValue, into stored: StoredValue) throws -> StoredValue {
        guard let wanted = new.composite, let former = stored.composite else { return new }
        var values = ContiguousArray<StoredValue>()
        for (field, (wanted, former)) in zip(fields, zip(self.values(of: wanted), self.values(of: former))) {
            guard let wanted else { return new }
            guard let former, former != wanted else {
                values.append(wanted)
                continue
            }
            do { values.append(try field.merged(wanted, into: former)) } catch let refusal as StoredMergeRefusal {
                throw StoredMergeRefusal(reason: refusal.reason, path: [field.name] + refusal.path)
            }
        }
        let merged = composite(values)
        return isSame(merged, former) ? stored : .object(merged)
    }
}

/// The error for a value whose save would lose a part of what is stored.
struct StoredMergeRefusal: Error {
    let reason: String
    /// The names of the nested values' properties that lead to the value.
    var path: [String] = []
}

extension EntityPlan {
    /// Merges a new value of a field into the stored one; see ``FieldPlan``.
    ///
    /// - Parameters:
    ///   - new: the value that the program wants to store.
    ///   - stored: the stored value, which differs.
    ///   - field: the index of the field.
    ///   - uid: the model's identifier, for the error.
    /// - Returns: the value to be stored; the stored one if the program has not changed it.
    /// - Throws: ``PersistenceError/Code/unwritable`` if a part of the stored value would be lost.
    func merged(
        _ new: StoredValue, into stored: StoredValue, _ field: Int, of uid: @autoclosure () -> String
    ) throws -> StoredValue {
        do { return try fields[field].merged(new, into: stored) } catch let refusal as StoredMergeRefusal {
            throw PersistenceError.unwritable(
                entity: name, uid: uid(), key: ([fields[field].name] + refusal.path).joined(separator: "."),
                reason: refusal.reason)
        }
    }
}
