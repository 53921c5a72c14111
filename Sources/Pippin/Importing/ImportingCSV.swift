import StoreSession

extension PersistenceManager {
    /// Saves the models in a CSV file, whose first record names the columns.
    ///
    /// ```
    /// id,title,price,author.id,author.name
    /// 9780141439587,Emma,9,austen,Jane Austen
    /// ```
    ///
    /// A column has the name of a property's coding key; the columns of a model within the model follow a dot. A column
    /// that the model does not have ends the import before anything is saved, unless `ignoringColumns` names it. An
    /// empty field is not a value; in quotes it is an empty text for a `String`. A nested struct whose fields are all
    /// empty is there if such texts are all that it requires, or if it is not optional and requires none. A list is
    /// JSON in its column.
    ///
    /// A model that is stored already keeps its values of the properties that have no column, such as the author in a
    /// list of `id,title,price`. A property that is not optional must have a column, a list, too. A nested struct is
    /// one value: a column of it replaces all of it. Where models of one type are at several places, such as an author
    /// and an editor, all of them have the same columns; models in JSON have all of their values.
    ///
    /// A text must be a value as a whole, or its record is refused: with its line, the column, the text and what was
    /// expected. `1,5`, `9abc`, `0x10` and `nan` are not numbers, 70000 is not an `Int16`, and the 30th of February is
    /// not a date. A missing closing quote is reported with the line where the quotes begin, and only that record is
    /// lost. All other records are saved.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - url: the file, in UTF-8, whose lines end with a line feed, a carriage return or both. Empty lines are
    ///     skipped. A file without a header line is refused; one with only a header has no models.
    ///   - delimiter: the ASCII character that separates fields.
    ///   - dates: how dates are written.
    ///   - ignored: columns to ignore, whether or not the model has such properties.
    ///   - batchSize: how many models to save at a time.
    ///   - progress: counts the bytes that are done, out of the file's size.
    /// - Returns: what was inserted, updated, skipped and refused, and why.
    /// - Throws: what ``importModels(_:batchSize:progress:)-(Values,_,_)`` throws,
    ///   ``PersistenceError/Code/fileNotReadable``, ``PersistenceError/Code/unknownColumns``, and
    ///   ``PersistenceError/Code/noDelimiter``.
    @discardableResult
    public func importCSV<Model: CoreModel>(
        _ type: Model.Type, from url: URL, delimiter: Character = ",", dates: CSVDates = .iso8601,
        ignoringColumns ignored: Set<String> = [], batchSize: Int = 500, progress: Progress? = nil
    ) async throws -> ImportReport {
        guard let byte = delimiter.asciiValue, delimiter != "\"", !delimiter.isNewline else {
            throw PersistenceError.noDelimiter("\(delimiter)")
        }
        let records = try CSVRecords(url, delimiter: byte)
        progress?.totalUnitCount = Int64(records.size)
        var batches = ImportBatches<Model>(manager: self, size: batchSize, progress: progress)
        let plan = try registry.plan(of: type)
        var header: CSVColumns?
        for record in records where !record.isBlank {
            guard let columns = header else {
                let columns = try CSVColumns(record, of: plan, in: registry, ignoring: ignored, path: url.path)
                let given = columns.names.filter { !ignored.contains($0) }
                batches.givenFields = try GivenFields(given, of: plan, in: registry, path: url.path)
                header = columns
                continue
            }
            if let problem = record.problem {
                let known = columns.names.indices.contains(problem.field)
                let column = known ? "“\(columns.names[problem.field])”" : "Field \(problem.field + 1)"
                try await batches.refuse(record.number, "\(column): \(problem.reason).", done: record.end)
                continue
            }
            guard record.fields.count == columns.names.count else {
                try await batches.refuse(
                    record.number, "It has \(record.fields.count) fields, not \(columns.names.count).", done: record.end
                )
                continue
            }
            let row = CSVRow(columns, record, dates: dates)
            let model: Model
            do { model = try Model(from: CSVDecoder(row: row, column: nil, codingPath: [])) } catch {
                try await batches.refuse(record.number, error.decodingReason, done: record.end)
                continue
            }
            try await batches.add(model, at: record.number, done: record.end)
        }
        if header == nil {
            throw PersistenceError.fileNotReadable(
                path: url.path, reason: "It is empty: the first line of a CSV file names its columns.")
        }
        try await batches.flush(done: records.size)
        return batches.report
    }
}

extension PersistenceManager {
    /// Saves the values of a sequence, batch by batch: models with stored identifiers are updated, the others inserted.
    ///
    /// ```swift
    /// let report = try await manager.importModels(downloads, batchSize: 1000, progress: progress)
    /// print("\(report.inserted) new, \(report.updated) changed, \(report.refused.count) refused")
    /// ```
    ///
    /// A batch is saved as a whole. If that fails, its halves are saved, and theirs, down to single values, so that one
    /// bad value does not keep the others out; the bad value is in the report. Cancelling the task, or the progress,
    /// ends the import between two batches, and the batches before are kept. One query per entity looks up what the
    /// models of a batch refer to.
    ///
    /// - Parameters:
    ///   - values: the models; no more than one batch of them is in memory.
    ///   - batchSize: how many models to save at a time.
    ///   - progress: counts the values that are done.
    /// - Returns: what was inserted, updated, skipped and refused, and why.
    /// - Throws: `CancellationError`; ``PersistenceError`` for a type that the manager was not made for; what the
    ///   sequence throws; and the errors of a failing store, such as ``PersistenceError/Code/saveFailed`` for a full
    ///   disk. The batches before are saved.
    /// - SQL: `SELECT … WHERE Z<ID> IN (?, …)`, then `INSERT` and `UPDATE` in one transaction per batch
    @discardableResult
    public func importModels<Values: AsyncSequence & Sendable, Model: CoreModel>(
        _ values: Values, batchSize: Int = 500, progress: Progress? = nil
    ) async throws -> ImportReport where Values.Element == Model {
        var batches = ImportBatches<Model>(manager: self, size: batchSize, progress: progress)
        for try await value in values { try await batches.add(value) }
        try await batches.flush()
        return batches.report
    }

    /// The same for an array, or another sequence that is there already or is made step by step.
    ///
    /// - Parameters:
    ///   - values: the models; no more than one batch of them is in memory besides the sequence itself.
    ///   - batchSize: how many models to save at a time.
    ///   - progress: counts the values that are done.
    /// - Returns: what was inserted, updated, skipped and refused, and why.
    /// - Throws: what the import of an asynchronous sequence throws.
    /// - SQL: `SELECT … WHERE Z<ID> IN (?, …)`, then `INSERT` and `UPDATE` in one transaction per batch
    @discardableResult
    public func importModels<Model: CoreModel>(
        _ values: some Sequence<Model> & Sendable, batchSize: Int = 500, progress: Progress? = nil
    ) async throws -> ImportReport {
        var batches = ImportBatches<Model>(manager: self, size: batchSize, progress: progress)
        for value in values { try await batches.add(value) }
        try await batches.flush()
        return batches.report
    }

    /// Saves the models in a file of JSON Lines, with one JSON object per line.
    ///
    /// A line that cannot be decoded is refused, with its number and the reason, and the others are saved. Keys that
    /// the type does not decode are ignored, as usual with `Codable`.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - url: the file, in UTF-8, whose lines end with a line feed, a carriage return or both. Empty lines are
    ///     skipped.
    ///   - decoder: decodes a line; pass your own, for example, for another date strategy.
    ///   - batchSize: how many models to save at a time.
    ///   - progress: counts the bytes that are done, out of the file's size.
    /// - Returns: what was inserted, updated, left alone and refused.
    /// - Throws: what ``importModels(_:batchSize:progress:)-(Values,_,_)`` throws, and
    ///   ``PersistenceError/Code/fileNotReadable``.
    @discardableResult
    public func importJSONLines<Model: CoreModel>(
        _ type: Model.Type, from url: URL, decoder: JSONDecoder = JSONDecoder(), batchSize: Int = 500,
        progress: Progress? = nil
    ) async throws -> ImportReport {
        let lines = try FileLines(url)
        progress?.totalUnitCount = Int64(lines.size)
        var batches = ImportBatches<Model>(manager: self, size: batchSize, progress: progress)
        for line in lines where !line.isBlank {
            guard String(validating: line.content, as: UTF8.self) != nil else {
                let start = String(decoding: line.content.prefix(1_000), as: UTF8.self).quotable
                try await batches.refuse(line.number, "“\(start)” is not text in UTF-8.", done: line.end)
                continue
            }
            let model: Model
            do { model = try decoder.decode(type, from: line.content) } catch {
                try await batches.refuse(line.number, error.reason(decoding: line.content), done: line.end)
                continue
            }
            try await batches.add(model, at: line.number, done: line.end)
        }
        try await batches.flush(done: lines.size)
        return batches.report
    }
}

/// Collects models, and saves them once a batch is full.
struct ImportBatches<Model: CoreModel> {
    private var counts = ImportReport()
    private let manager: PersistenceManager
    private let size: Int
    private let progress: Progress?
    /// What stored models get values of; nil for all of their properties.
    var givenFields: GivenFields?
    private typealias Record = (position: Int, model: Model)
    private var waiting: [Record] = []
    /// How many were refused since the latest batch.
    private var refusedCount = 0
    /// What became of the models of a batch that is saved in parts; nil for a batch that is saved as a whole. A later
    /// value of a model counts in the place of an earlier one, in whichever part it is.
    private var outcomes: [RecordKey: SaveOutcome]?
    private var count = 0
    private var done = 0

    init(manager: PersistenceManager, size: Int, progress: Progress?) {
        self.manager = manager
        self.size = max(size, 1)
        self.progress = progress
    }

    /// What became of the values so far, with those that were refused in their order.
    var report: ImportReport {
        var report = counts
        report.refused = report.refused.sorted { $0.position < $1.position }
        return report
    }

    mutating func add(_ model: Model, at position: Int? = nil, done: Int? = nil) async throws {
        count += 1
        waiting.append((position ?? count, model))
        self.done = done ?? count
        if waiting.count + refusedCount >= size { try await flush() }
    }

    /// Notes a value that could not be read. It counts towards the batch, after which an import can be cancelled.
    mutating func refuse(_ position: Int, _ reason: String, done: Int) async throws {
        refuse(position, reason)
        refusedCount += 1
        self.done = done
        if waiting.count + refusedCount >= size { try await flush() }
    }

    private mutating func refuse(_ position: Int, _ reason: String) {
        counts.refused.append(ImportReport.Refusal(position: position, reason: reason.limited(to: 1_000)))
    }

    /// Saves the collected models.
    mutating func flush(done: Int? = nil) async throws {
        try Task.checkCancellation()
        if progress?.isCancelled ?? false { throw CancellationError() }
        let batch = waiting[...]
        waiting = []
        refusedCount = 0
        outcomes = nil
        var left = try await save(batch)
        var count = batch.count
        // They may refer to models that have been saved meanwhile.
        while !left.isEmpty, left.count < count {
            count = left.count
            left = try await save(left.map(\.record)[...])
        }
        for (record, reason) in left { refuse(record.position, reason) }
        progress?.completedUnitCount = Int64(done ?? self.done)
    }

    /// Saves models together. If that fails, it saves the two halves, and theirs, to find the ones at fault.
    ///
    /// - Returns: the models that refer to ones which are not stored yet, each with the reason.
    /// - Throws: the errors that are not the fault of the models.
    private mutating func save(_ records: ArraySlice<Record>) async throws -> [(record: Record, reason: String)] {
        guard let first = records.first else { return [] }
        do {
            let saved = try await manager.importBatch(records.map(\.model), givenFields)
            count(saved, of: records.count)
            return []
        } catch {
            if error is CancellationError || error.isOfStore { throw error }
            let code = (error as? PersistenceError)?.code
            if code == .unknownModel { throw error }
            if records.count == 1 {
                if code == .missingReference { return [(first, error.decodingReason)] }
                refuse(first.position, error.decodingReason)
                return []
            }
        }
        if outcomes == nil { outcomes = [:] }
        let half = records.count / 2
        let left = try await save(records.prefix(half))
        return left + (try await save(records.dropFirst(half)))
    }

    /// Counts models that were saved together.
    private mutating func count(_ saved: ImportedBatch, of total: Int) {
        counts.superseded += total - saved.models.count + saved.replaced
        counts.inserted -= saved.replaced
        for (key, outcome) in saved.models {
            guard let former = outcomes?[key] else {
                counts.count(outcome, 1)
                outcomes?[key] = outcome
                continue
            }
            counts.superseded += 1
            if former == .unchanged, outcome == .updated {
                counts.count(.unchanged, -1)
                counts.count(.updated, 1)
                outcomes?[key] = .updated
            }
        }
    }
}

/// What became of models that were saved together.
private struct ImportedBatch {
    /// Each model once.
    var models: [(key: RecordKey, outcome: SaveOutcome)]
    /// How many of the new ones were left out for others with the same values.
    var replaced: Int
}

extension ImportReport {
    fileprivate mutating func count(_ outcome: SaveOutcome, _ number: Int) {
        switch outcome {
        case .inserted: inserted += number
        case .updated: updated += number
        case .unchanged: unchanged += number
        }
    }
}

extension PersistenceManager {
    fileprivate func importBatch<Model: CoreModel>(
        _ models: [Model], _ givenFields: GivenFields?
    ) async throws -> ImportedBatch {
        let registry = registry
        _ = try registry.plan(of: Model.self)
        return try await inSavedTransaction { turn in
            let access = ModelAccess(self, turn)
            access.givenFields = givenFields
            let graph = try ModelGraph(models, registry: registry, repeated: .lastCounts)
            let outcomes = try PersistenceError.explaining(.saveFailed) { try access.save(graph, .any) }
            try access.finish()
            try access.settleObjects(of: graph.plan)
            return ImportedBatch(
                models: outcomes.enumerated().map { (graph.nodes[$0].key, $1) },
                replaced: access.replaced)
        }
    }
}

extension Error {
    /// Why a line of JSON was not decoded. Of a number that its property cannot hold Foundation says that it is no
    /// JSON.
    fileprivate func reason(decoding line: Data) -> String {
        guard case .dataCorrupted(let context)? = self as? DecodingError, context.codingPath.isEmpty,
            context.debugDescription == "The given data was not valid JSON.",
            (try? JSONSerialization.jsonObject(with: line, options: .fragmentsAllowed)) != nil
        else { return decodingReason }
        return "It has a number that its property cannot hold."
    }
}
