import CoreData
import Foundation
import StoreEngine

/// The dates of all objects of stores, in the order of time.
package final class Timeline {
    /// One date of one object.
    package struct Event {
        /// Seconds since 2001.
        package let time: Double
        package let entity: String
        package let property: String
        /// What names the object; its entity and number without.
        package let title: String
        package let uri: String
        package let key: Int64
        /// The path of the store.
        package let source: String
    }

    /// How an event is written.
    package enum Format: String, CaseIterable, Sendable {
        case jsonl
        /// The form of plaso's `l2tcsv`, which Timesketch and spreadsheets read.
        case csv
    }

    private let sort: ExternalSort
    private let format: Format
    private let style: ValueStyle
    /// How many events there are.
    package private(set) var count = 0

    /// - Parameters:
    ///   - format: how events are written.
    ///   - style: the numbers that are dates, and the time zone of the texts.
    ///   - mostBytes: how many bytes of events are kept in memory.
    package init(_ format: Format, _ style: ValueStyle = ValueStyle(), mostBytes: Int = 8_000_000) {
        (self.format, self.style) = (format, style)
        sort = ExternalSort(mostBytes: mostBytes)
    }

    /// Adds the dates of a store.
    ///
    /// - Parameters:
    ///   - path: the store's path.
    ///   - source: the path that events name; nil for the same.
    ///   - modelPath: the model's path; nil for the store's own copy.
    ///   - progress: told which part of the objects is read, from 0 to 1; nil if nobody wants to know, since objects
    ///     are counted for it.
    /// - Throws: the errors of opening and reading the store, and those of `progress`.
    package func add(
        storeAt path: String, named source: String? = nil, modelPath: String?, progress: ((Double) -> Void)? = nil
    ) throws {
        var opening = DirectStore.Opening(path: path, modelPath: modelPath)
        opening.salvages = true
        opening.readsCopy = PrivateCopy.hasJournal(URL(store: path))
        let store = try DirectStore(opening)
        defer { store.close() }
        let found = store.layout.entities.map { ($0, dates(of: $0)) }.filter { !$0.1.isEmpty }
        func plan(_ entity: EntityLayout) -> FetchPlan {
            var plan = FetchPlan(entity: entity)
            plan.includesSubentities = false
            return plan
        }
        let total =
            progress == nil
            ? 0 : found.reduce(0) { sum, item in sum + ((try? store.asking { try $0.fetchCount(plan(item.0)) }) ?? 0) }
        var read = 0
        for (entity, dates) in found {
            try store.asking { engine in
                var plan = plan(entity)
                if store.pagesByKey { plan.sortDescriptors = [NSSortDescriptor(key: "objectID", ascending: true)] }
                let portions: any RowPortions
                do { portions = try engine.portions(plan) } catch let error as NSError
                    where error.code == CoreDataErrorCode.persistentStoreIncompatibleSchema
                { return }
                var size = PortionSize(most: 256)
                while case let rows = try portions.next(store.pagesByKey ? size.count : .max), !rows.isEmpty {
                    size.follow(rows)
                    for row in rows { try add(row, dates, source ?? path) }
                    read += rows.count
                    if total > 0 { progress?(Double(read) / Double(total)) }
                }
            }
        }
    }

    /// The slots of an entity that have dates, with their names, and what a number means.
    private func dates(of entity: EntityLayout) -> [(slot: Int, name: String, epoch: DateEpoch?)] {
        entity.slots.indices.compactMap { index in
            guard let attribute = entity.slots[index].attribute, !entity.slots[index].isTransient else { return nil }
            if let epoch = style.epochs.epoch(of: attribute.name, in: entity.name) {
                return (index, attribute.name, epoch)
            }
            return attribute.type == .dateAttributeType ? (index, attribute.name, nil) : nil
        }
    }

    private func add(_ row: Row, _ dates: [(slot: Int, name: String, epoch: DateEpoch?)], _ path: String) throws {
        for (slot, name, epoch) in dates where row.values.indices.contains(slot) {
            let time: Double
            switch (row.values[slot], epoch) {
            case (.date(let seconds), nil): time = seconds
            case (.integer(let number), let epoch?): time = epoch.secondsSince2001(Double(number))
            case (.double(let number), let epoch?), (.date(let number), let epoch?):
                time = epoch.secondsSince2001(number)
            default: continue
            }
            guard time.isFinite else { continue }
            let identifier = row.objectID
            let event = Event(
                time: time, entity: identifier.layout.name, property: name,
                title: ObjectLabel.name(of: row) ?? ObjectLabel.number(of: identifier),
                uri: identifier.uriText, key: identifier.key, source: path)
            try sort.add(TimelineText.line(event, format, style.timeZone), key: time)
            count += 1
        }
    }

    /// Writes all events, the earliest first.
    ///
    /// - Parameters:
    ///   - progress: told which part of the events is written, from 0 to 1.
    ///   - output: takes the text.
    /// - Throws: the errors of `output`, and `CommandError` if parts cannot be read.
    package func write(progress: (Double) -> Void = { _ in }, _ output: (String) throws -> Void) throws {
        if format == .csv { try output(TimelineText.header) }
        var written = 0
        try sort.forEach { text in
            try EndingSignals.check()
            try output(text)
            written += 1
            progress(Double(written) / Double(max(1, count)))
        }
    }
}

/// Events as text. Pure.
enum TimelineText {
    /// The names of the fields of `l2tcsv`.
    static let header = CSVText.line([
        "date", "time", "timezone", "MACB", "source", "sourcetype", "type", "user", "host", "short", "desc", "version",
        "filename", "inode", "notes", "format", "extra",
    ])

    static func line(_ event: Timeline.Event, _ format: Timeline.Format, _ zone: TimeZone?) -> String {
        switch format {
        case .jsonl:
            return JSONText.object([
                ("time", JSONText.string(TextTools.iso8601(event.time, in: zone))),
                ("entity", JSONText.string(event.entity)),
                ("property", JSONText.string(event.property)), ("title", JSONText.string(event.title)),
                (ObjectHead.name, JSONText.string(event.uri)), ("source", JSONText.string(event.source)),
            ]) + "\n"
        case .csv:
            let (date, time) = dayAndTime(event.time, zone)
            // Fields of that form have no line breaks, and a spreadsheet may compute what it reads.
            let cells = [
                date, time, zone?.identifier ?? "UTC", "....", "COREDATA", "Core Data \(event.entity)", event.property,
                "-", "-",
                event.title,
                "\(event.entity)/p\(event.key): \(event.title)", "2", event.source, "-", "-", "pippin",
                "uri: \(event.uri)",
            ]
            return CSVText.line(cells.map { CSVText.guarded(TextTools.plain($0)) })
        }
    }

    /// `11/29/2026`, `18:51:00`: the form has no fractions.
    private static func dayAndTime(_ seconds: Double, _ zone: TimeZone?) -> (String, String) {
        let text = TextTools.iso8601(seconds.rounded(.down), in: zone)
        let parts = text.split(separator: "T", maxSplits: 1).map(String.init)
        let day = (parts.first ?? "").split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, day.count == 3 else { return (text, "00:00:00") }
        return ("\(day[1])/\(day[2])/\(day[0])", String(parts[1].prefix(8)))
    }
}
