import CoreData
import Foundation
import HTTPMessages
import PredicateFormat
import StoreEngine
import StoreReading

/// The dates of all objects, the latest first: what `pippin timeline` writes, a page at a time.
enum TimelinePage {
    /// How many events are on a page.
    private static let size = 60

    /// One date of one object.
    private struct Event {
        let time: Double
        let property: String
        let row: Row
    }

    /// Where a page begins: with the events up to a time, without some of that time that the page before has shown.
    private struct Place: Equatable {
        var time: Double
        var skipped = 0

        /// - Throws: `PageFailure` for a text that is not a date.
        init?(_ query: HTTPFields) throws {
            if let text = query["at"], !text.isEmpty {
                guard let date = DateText.date(text) else {
                    throw PageFailure(
                        status: 422, message: "“\(text)” is not a date; one such as 2024-05-01 13:30 expected.")
                }
                time = date.timeIntervalSinceReferenceDate
            } else if let number = query["before"].flatMap({ Double($0) }), number.isFinite {
                time = number
                skipped = max(0, query["skip"].flatMap { Int($0) } ?? 0)
            } else {
                return nil
            }
        }

        init(after events: [Event], _ former: Place?) {
            time = events.last?.time ?? 0
            skipped = events.count { [time] in $0.time == time } + (former?.time == time ? former?.skipped ?? 0 : 0)
        }

        var query: [(String, String?)] { [("before", "\(time)"), ("skip", skipped > 0 ? "\(skipped)" : nil)] }
    }

    static func response(
        _ query: HTTPFields, _ session: BrowserSession, _ client: (any HTTPClient)?, _ site: Site
    ) throws -> HTTPResponse {
        let place = try Place(query)
        let found = try session.aside(for: client) { store in try events(upTo: place, store) }
        return HTTPResponse(html(found, place, site))
    }

    /// The events of a page, and one more if there is one.
    private static func events(upTo place: Place?, _ store: DirectStore) throws -> [Event] {
        let wanted = size + 1 + (place?.skipped ?? 0)
        var events: [Event] = []
        for entity in store.layout.entities {
            for slot in entity.slots.indices {
                guard let attribute = entity.slots[slot].attribute, attribute.type == .dateAttributeType,
                    !entity.slots[slot].isTransient
                else { continue }
                let rows: ContiguousArray<Row>
                do {
                    rows = try store.asking { try $0.fetchRows(plan(entity, attribute.name, place, wanted)) }
                } catch let error as NSError where error.code == CoreDataErrorCode.persistentStoreIncompatibleSchema {
                    continue
                }
                events += rows.compactMap { row in
                    guard case .date(let time) = row.values[slot], time <= place?.time ?? .infinity else { return nil }
                    return Event(time: time, property: attribute.name, row: row)
                }
            }
            // Few more than are shown are kept.
            events = Array(events.sorted(by: precedes).prefix(wanted))
        }
        return Array(events.dropFirst(place?.skipped ?? 0))
    }

    /// The latest first; those of one time in an order that does not change.
    private static func precedes(_ left: Event, _ right: Event) -> Bool {
        if left.time != right.time { return left.time > right.time }
        let (first, second) = (left.row.objectID, right.row.objectID)
        return (first.layout.name, left.property, first.key) < (second.layout.name, right.property, second.key)
    }

    private static func plan(_ entity: EntityLayout, _ property: String, _ place: Place?, _ count: Int) -> FetchPlan {
        var plan = FetchPlan(entity: entity)
        plan.includesSubentities = false
        let date = ExpressionTree.keyPath([property])
        plan.predicate = makePredicate(
            .comparison(
                place.map {
                    ComparisonTree(
                        date, .lessThanOrEqualTo, .constant(.date(Date(timeIntervalSinceReferenceDate: $0.time))))
                } ?? ComparisonTree(date, .notEqualTo, .constant(.null))))
        plan.sortDescriptors = [
            NSSortDescriptor(key: property, ascending: false), NSSortDescriptor(key: "objectID", ascending: true),
        ]
        plan.limit = count
        return plan
    }

    // MARK: Pure

    private static func html(_ events: [Event], _ place: Place?, _ site: Site) -> HTML {
        let shown = Array(events.prefix(size))
        let items = shown.map { event -> HTML in
            let text = TextTools.iso8601(event.time)
            let number = ObjectLabel.number(of: event.row.objectID)
            return """
                <tr><td><time datetime="\(text)" title="\(text)" data-local="\(text)">\(text)</time></td><td>\(event.property)</td>
                <td>\(event.row.objectID.layout.name)</td>
                <td class="wide"><a href="\(site.link(to: event.row.objectID))" title="\(number)"><bdi>\(ObjectLabel.name(of: event.row) ?? number)</bdi></a></td></tr>
                """
        }
        let newest: HTML =
            place == nil ? "" : "<a rel=\"prev\" href=\"\(site.link(["timeline"]))\">Latest</a>"
        let older: HTML =
            events.count > size
            ? "<a rel=\"next\" href=\"\(site.link(["timeline"], Place(after: shown, place).query))\">Earlier</a>" : ""
        let table: HTML =
            shown.isEmpty
            ? "<p class=\"message\">\(place == nil ? "No object has a date." : "No object has an earlier date.")</p>"
            : """
            <div class="scroll" tabindex="0"><table class="grid"><thead><tr><th scope="col">Time</th><th scope="col">Property</th><th scope="col">Entity</th>
            <th scope="col" class="wide">Object</th></tr></thead><tbody>\(items.joined("\n"))</tbody></table></div>
            """
        return PageFrame.html(
            "Timeline", .timeline, site,
            """
            <h1>Timeline</h1>
            <form class="filter" action="\(site.link(["timeline"]))"><label>Up to <input name="at" placeholder="2024-05-01 13:30"></label>
            <button>Show</button></form>
            <section id="timeline" data-live><p class="sub bar"><span>\(newest) \(older)</span></p>\(table)</section>
            """)
    }
}
