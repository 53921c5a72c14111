import Pippin

/// What a save of models does to existing records, computed from identifiers alone.
struct RecordSavePlan: Equatable {
    /// A record that takes a model's values, both by index.
    struct Update: Equatable {
        let record: Int
        let model: Int
    }

    /// The records that stay, with the models whose values they take.
    private(set) var updates: [Update] = []
    /// The models, by index, that get a new record.
    private(set) var inserts: [Int] = []
    /// The records, by index, that are deleted.
    private(set) var deletions: [Int] = []

    /// - Parameters:
    ///   - models: the models' identifiers. If two models have the same one, the later wins.
    ///   - records: the identifiers of the existing records, nil for a record without one. If two have the same one,
    ///     the later record is deleted.
    ///   - shouldOverwrite: whether records without a model among these are deleted.
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
