import SwiftData

@Model
final class Album {
    var name: String
    var photos: [Photo] = []

    init(name: String) { self.name = name }
}

@Model
final class Photo {
    var number: Int
    @Relationship(inverse: \Album.photos) var album: Album?

    init(_ number: Int) { self.number = number }
}

/// Models of SwiftData's: relationships to many that grow one by one.
let modelKinds: [Kind] =
    growingArrays(isInserted: true) + growingArrays(isInserted: false) + [
        Kind("models: append to an array, save and read it, 500 times") { trial in
            let context = try albums(trial)
            let album = Album(name: "album")
            context.insert(album)
            album.photos = (0..<trial.size).map { Photo($0) }
            try context.save()
            trial.expect(album.photos.count == trial.size)
            try trial.measure(500) {
                for number in 0..<500 {
                    album.photos.append(Photo(trial.size + number))
                    try context.save()
                    trial.expect(album.photos.last?.number == trial.size + number)
                }
            }
        }
    ]

private func growingArrays(isInserted: Bool) -> [Kind] {
    let place = isInserted ? "inserted" : "not inserted"
    return [
        Kind("models: append to an array, \(place)") { trial in
            try fill(trial, isInserted) { photo, album in album.photos.append(photo) }
        },
        Kind("models: set both sides and read the array, \(place)") { trial in
            try fill(trial, isInserted) { photo, album in
                photo.album = album
                album.photos.append(photo)
                trial.expect(album.photos.last == photo)
            }
        },
    ]
}

private func albums(_ trial: Trial) throws -> ModelContext {
    ModelContext(
        try ModelContainer(
            for: Album.self,
            configurations: ModelConfiguration(url: trial.folder.appendingPathComponent("albums.store"))))
}

private func fill(_ trial: Trial, _ isInserted: Bool, _ add: (Photo, Album) -> Void) throws {
    let context = try albums(trial)
    let album = Album(name: "album")
    if isInserted { context.insert(album) }
    let photos = (0..<trial.size).map { Photo($0) }
    trial.measure { for photo in photos { add(photo, album) } }
    trial.expect(album.photos.count == trial.size)
}
