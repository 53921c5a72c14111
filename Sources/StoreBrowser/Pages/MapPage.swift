import CoreData
import HTTPMessages
import StoreEngine
import StoreReading

/// The objects of a grid at their places: a map without a ground, for entities with a latitude and a longitude.
enum MapPage {
    private static let most = 5_000
    private static let names = [("latitude", "longitude"), ("lat", "lon"), ("lat", "lng"), ("lat", "long")]

    /// The slots of an entity's latitude and longitude; nil for one without.
    static func slots(of entity: EntityLayout) -> (latitude: Int, longitude: Int)? {
        func slot(_ name: String) -> Int? {
            entity.slots.indices.first {
                entity.slots[$0].name.lowercased() == name && ValueHTML.isNumber(entity.slots[$0].attribute)
            }
        }
        return names.lazy.compactMap { latitude, longitude in
            slot(latitude).flatMap { first in slot(longitude).map { (first, $0) } }
        }.first
    }

    /// A place, and the object that is there.
    struct Place {
        let latitude: Double
        let longitude: Double
        let title: String
        let link: String
    }

    static func response(
        _ query: GridQuery, _ session: BrowserSession, _ client: (any HTTPClient)?, _ site: Site
    ) throws -> HTTPResponse {
        guard let (latitude, longitude) = slots(of: query.entity) else {
            throw PageFailure.missing("“\(query.entity.name)” has no latitude and longitude.")
        }
        if let problem = query.problem { throw problem }
        let places = try session.aside(for: client) { store -> [Place] in
            var plan = query.page.countPlan
            plan.entity = store.layout.entityByName[plan.entity.name] ?? plan.entity
            plan.limit = most
            return try store.asking { try $0.fetchRows(plan) }.compactMap { row in
                guard let y = number(row.values[latitude]), let x = number(row.values[longitude]), abs(y) <= 90,
                    abs(x) <= 180
                else { return nil }
                return Place(
                    latitude: y, longitude: x,
                    title: ObjectLabel.name(of: row) ?? ObjectLabel.number(of: row.objectID),
                    link: site.link(to: row.objectID))
            }
        }
        return HTTPResponse(html(query, places, site))
    }

    private static func number(_ value: StoredValue) -> Double? {
        switch value {
        case .double(let number): number
        case .integer(let number): Double(number)
        case .object(let number as NSNumber): number.doubleValue
        default: nil
        }
    }

    // MARK: Pure

    static func html(_ query: GridQuery, _ places: [Place], _ site: Site) -> HTML {
        let entity = query.entity
        let shown: HTML = query.filter.isEmpty ? "" : " where <code>\(query.filter)</code>"
        let count = TextTools.count(places.count, "object")
        let body: HTML = """
            <p class="crumbs"><a id="up" href="\(site.link(["entity", entity.name], query.items()))">\(entity.name)</a></p>
            <h1>\(entity.name) on a map</h1>
            <p class="sub">\(count)\(shown)\(places.count == most ? ", the first ones" : "").</p>
            \(places.isEmpty ? "<p class=\"message\">No objects with a place.</p>" : drawing(places))
            """
        return PageFrame.html("\(entity.name) on a map", .entities, site, body)
    }

    /// Degrees of longitude are drawn as wide as they are in the middle of the map.
    static func drawing(_ places: [Place]) -> HTML {
        let (south, north) = bounds(places.map(\.latitude))
        let (west, east) = bounds(places.map(\.longitude))
        let narrowing = max(0.1, cos((south + north) / 2 * .pi / 180))
        let scale = min(900 / ((east - west) * narrowing), 600 / (north - south))
        let (width, height) = ((east - west) * narrowing * scale, (north - south) * scale)
        func x(_ longitude: Double) -> String { fixed((longitude - west) * narrowing * scale) }
        func y(_ latitude: Double) -> String { fixed((north - latitude) * scale) }
        let step = [0.001, 0.01, 0.1, 0.5, 1, 5, 10, 30].first { max(east - west, north - south) / $0 <= 8 } ?? 30
        var lines: [HTML] = []
        for meridian in steps(west, east, step) {
            lines.append(
                "<path d=\"M\(x(meridian)) 0V\(fixed(height))\"/><text x=\"\(x(meridian))\" y=\"\(fixed(height - 4))\">\(degrees(meridian))</text>"
            )
        }
        for parallel in steps(south, north, step) {
            lines.append(
                "<path d=\"M0 \(y(parallel))H\(fixed(width))\"/><text x=\"3\" y=\"\(y(parallel))\">\(degrees(parallel))</text>"
            )
        }
        let points = places.map { place -> HTML in
            "<a href=\"\(place.link)\"><circle cx=\"\(x(place.longitude))\" cy=\"\(y(place.latitude))\" r=\"4\"><title>\(place.title)</title></circle></a>"
        }
        return """
            <figure class="chart map"><svg viewBox="0 0 \(fixed(width)) \(fixed(height))" role="img" aria-label="Places of objects">\
            <g class="lines">\(lines.joined())</g>\(points.joined())</svg></figure>
            """
    }

    /// The least and the greatest number, with a margin.
    private static func bounds(_ numbers: [Double]) -> (Double, Double) {
        let (least, greatest) = (numbers.min() ?? 0, numbers.max() ?? 0)
        let margin = max((greatest - least) * 0.06, 0.01)
        return (least - margin, greatest + margin)
    }

    private static func steps(_ least: Double, _ greatest: Double, _ step: Double) -> [Double] {
        Array(stride(from: (least / step).rounded(.up) * step, through: greatest, by: step))
    }

    private static func degrees(_ number: Double) -> String { String(format: "%g°", (number * 1000).rounded() / 1000) }
    private static func fixed(_ number: Double) -> String { String(format: "%.1f", number) }
}
