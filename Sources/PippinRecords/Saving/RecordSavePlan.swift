import Pippin

/// What a save of models does to the records that are there, worked out from identifiers alone.
struct RecordSavePlan: Equatable {
    /// A record that takes over a model's values, both by index.
    struct Update: Equatable {
        let record: Int
        let model: Int
    }

    /// The records that stay, with the models they take over.
    private(set) var updates: [Update] = []
    /// The models, by index, that get a new record.
    private(set) var inserts: [Int] = []
    /// The records, by index, that go.
    private(set) var deletions: [Int] = []

    /// - Parameters:
    ///   - models: the models' identifiers. Of two models with the same one, the later wins.
    ///   - records: the identifiers of the records that are there, nil for a record without one. Of two with the same one, the
    ///     later goes.
    ///   - shouldOverwrite: whether records go that have no model among these.
    init<Uid: Hashable>(models: [Uid], records: [Uid?], shouldOverwrite: Bool) {
        let modelByUid = Dictionary(models.enumerated().map { ($1, $0) }, uniquingKeysWith: { _, later in later })
        var found: Set<Uid> = []
        for (record, uid) in records.enumerated() {
            let isDuplicate = uid.map { !found.insert($0).inserted } ?? false
            if let uid, let model = modelByUid[uid], !isDuplicate {
                updates.append(Update(record: record, model: model))
            } else if isDuplicate || shouldOverwrite {
                deletions.append(record)
            }
        }
        inserts = models.indices.filter { modelByUid[models[$0]] == $0 && !found.contains(models[$0]) }
    }
}
