/// The keys that a model encodes. A store keeps no value of a key that is not decoded as well, so every save would
/// fail.
struct EncodedKeys {
    /// The model's type, for messages.
    let type: String

    /// - Parameters:
    ///   - prototype: a model.
    ///   - record: its fields, as decoding shows them.
    /// - Throws: ``PersistenceError/Code/notDerivable`` for a key that is encoded only, and for one that several
    ///   properties are encoded under.
    func check(_ prototype: some CoreModel, _ record: RecordPlan) throws {
        // Other models are checked by themselves.
        let options = CodedTree.Options { $0 is any CoreModel || $0 is any ModelReference || $0 is any ModelCollection }
        // Made-up values may be none that can be encoded.
        guard let tree = try? CodedTree(prototype, options) else { return }
        try check(tree, record, "")
    }

    private func check(_ tree: CodedTree, _ record: RecordPlan, _ path: String) throws {
        var cursor = 0
        var former: [String: CodedTree] = [:]
        for (key, value) in tree.keyed ?? [] {
            if let other = former.updateValue(value, forKey: key), other.bytes != value.bytes {
                throw PersistenceError.notDerivable(
                    type: type, property: path + key,
                    reason:
                        "several properties are encoded under this key, and a store would keep one of them. Give each a "
                        + "coding key of its own.")
            }
            guard let index = record.index(of: key, cursor: &cursor) else {
                throw PersistenceError.notDerivable(
                    type: type, property: path + key,
                    reason:
                        "it is encoded, and not decoded, so that it could not be saved. A `let` with a value is not decoded: make it a "
                        + "`var`, or leave it out of CodingKeys. An init(from:) of your own has to decode every key that is "
                        + "encoded.")
            }
            if case .composite(let inner) = record.fields[index].kind { try check(value, inner, "\(path)\(key).") }
        }
    }
}
